"""A loop over Google's SDK. Without ``http_options`` and ``api_key`` the client asks the real API."""

import scripted
import tickets
import toolcrib
from google import genai
from toolcrib.adapters.loop import google_loop

with scripted.ScriptedApi(scripted.gemini(tickets.SCRIPT)) as api:
    client = genai.Client(api_key="none", http_options={"base_url": api.url})
    question = [{"role": "user", "parts": [{"text": tickets.QUESTION}]}]
    contents = google_loop(client, toolcrib.open(tickets.TOOLS), question, model="scripted")

print(contents[-1]["parts"][0]["text"])
