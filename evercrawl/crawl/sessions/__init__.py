"""Identification to sites: headers, cookies, passwords, tokens, certificates and logins."""
