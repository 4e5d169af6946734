"""Forms on pages: site searches and logins."""
