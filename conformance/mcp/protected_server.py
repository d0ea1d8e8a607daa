"""A protected server, made with the official SDK for Python: it takes tokens that an issuer knows, for its own address alone.

    python3 conformance/mcp/protected_server.py PORT ISSUER CLIENT_ID CLIENT_SECRET SCOPE...

Version 1 of the SDK speaks the older revision alone, version 2 both.
"""

import sys
import warnings

import uvicorn
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings

try:
    import httpx2 as httpx
    from mcp.server.mcpserver import MCPServer
except ImportError:
    import httpx
    from mcp.server.fastmcp import FastMCP as MCPServer


class Introspection:
    """Asks the issuer for what a token stands for."""

    def __init__(self, issuer, client, resource):
        self.issuer, self.client, self.resource = issuer, client, resource

    async def verify_token(self, token):
        async with httpx.AsyncClient() as http:
            answer = await http.post(f"{self.issuer}/introspect", data={"token": token}, auth=self.client)
        told = answer.raise_for_status().json()
        audience = told.get("aud") or []
        if not told["active"] or self.resource not in ([audience] if isinstance(audience, str) else audience):
            return None
        return AccessToken(
            token=token, client_id=told.get("client_id", ""), scopes=told.get("scope", "").split(), expires_at=told["exp"],
            resource=self.resource,
        )


def main(port, issuer, client, secret, *scopes):
    url = f"http://127.0.0.1:{port}/mcp"
    auth = AuthSettings(issuer_url=issuer, resource_server_url=url, required_scopes=list(scopes))
    server = MCPServer("python", token_verifier=Introspection(issuer, (client, secret), url), auth=auth)

    @server.tool()
    def read_note(name: str) -> str:
        """Read one note."""
        return f"note {name}"

    uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(port), log_level="error")


if __name__ == "__main__":
    # The verifier checks the resource itself, which version 1 knows nothing of.
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
