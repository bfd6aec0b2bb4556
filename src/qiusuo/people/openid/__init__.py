"""OpenID Connect, the side of who relies on it: an issuer, its tokens, and whom they stand for."""
