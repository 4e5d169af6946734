"""An open contest: external policies against all of ours, on shipped histories and on simulated pages."""
