"""Sites that know who asks: headers, cookies, passwords, tokens, certificates and logins."""
