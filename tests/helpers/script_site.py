"""A site whose pages say nothing without scripts: twenty ways to build a page, and pages that harm a browser."""

import asyncio
import json
from typing import Any

from loopback import Server

WAYS = (
    "<script>document.body.innerHTML='{page}'</script>",
    "<script>document.write('{page}')</script>",
    "<script src=/late.js></script><script>fill('{page}')</script>",
    "<script defer src=/app.js></script>",
    "<script type=module src=/module.js></script>",
    "<script>addEventListener('load',()=>{{document.body.innerHTML='{page}'}})</script>",
    "<script>setTimeout(()=>{{document.body.innerHTML='{page}'}},150)</script>",
    "<script>fetch('/api/{number}').then(r=>r.json()).then(j=>{{document.body.innerHTML=j.page}})</script>",
    "<script>x=new XMLHttpRequest();x.open('GET','/api/{number}');x.onload=()=>{{document.body.innerHTML="
    "JSON.parse(x.responseText).page}};x.send()</script>",
    "<div id=app></div><script>d=document.createElement('p');d.innerHTML='{page}';app.append(d)</script>",
    "<template id=t>{page}</template><script>document.body.append(t.content.cloneNode(true))</script>",
    "<script>requestAnimationFrame(()=>{{document.body.innerHTML='{page}'}})</script>",
    "<script>(async()=>{{for(i of [1,2,3])await fetch('/api/{number}?step='+i);document.body.innerHTML='{page}'}})()"
    "</script>",
    "<script>Promise.resolve().then(()=>{{document.body.innerHTML='{page}'}})</script>",
    "<script>s=document.createElement('script');s.src='/app.js';document.head.append(s)</script>",
    "<script>import('/module.js')</script>",
    "<script>history.replaceState(null,'','/elsewhere');document.body.innerHTML='{page}'</script>",
    "<script>new MutationObserver(()=>{{if(!window.done){{done=1;document.body.innerHTML='{page}'}}}}).observe("
    "document.body,{{childList:true}});document.body.append('x')</script>",
    "<script>document.body.innerHTML=atob('{base64}')</script>",
    "<script>fetch('/moved/{number}').then(r=>r.json()).then(j=>{{document.body.innerHTML=j.page}})</script>",
)
HARM = {
    "/loops": "<script>for(;;);</script>",
    "/eats": "<script>a=[];for(;;)a.push(new Uint8Array(1<<24).fill(1))</script>",
    "/asks": "<script>for(i=0;i<500;i++)fetch('/api/0?n='+i)</script>",
    "/opens": "<script>for(i=0;i<20;i++)open('/page/0');alert(1);confirm(2);location='/page/1'</script>",
    "/ticks": "<script>setInterval(()=>fetch('/api/0?t='+Math.random()),50)</script>",
    "/alerts": "<script>addEventListener('beforeunload',e=>{{e.preventDefault();return e.returnValue='stay'}});"
    "for(;;){{alert(1);prompt(2);location='/page/2'}}</script>",
    "/workers": "<script>navigator.serviceWorker&&navigator.serviceWorker.register('/serve.js');try{{new SharedWorker("
    "'/sw.js')}}catch(e){{}};for(i=0;i<30;i++)new Worker(URL.createObjectURL(new Blob(['for(;;);'])))</script>",
    "/downloads": "<script>for(i=0;i<40;i++){{a=document.createElement('a');a.download='f'+i;a.href="
    "URL.createObjectURL(new Blob(['x'.repeat(1e6)]));a.click()}}</script>",
    "/leads": "<script>setInterval(()=>{{location='/page/'+Math.random();location.hash=Math.random();"
    "history.pushState(0,0,'/x'+Math.random())}},1)</script>",
    "/frames": "<script>for(i=0;i<200;i++){{f=document.createElement('iframe');f.src=i%2?'/frames?'+i:'data:text/html,"
    "<script>for(;;);<\\/script>';document.body.append(f)}}</script>",
    "/huge": "<script>for(i=0;i<2e5;i++)document.body.append(document.createElement('p'))</script>",
    "/deep": "<script>e=document.body;for(i=0;i<1e5;i++){{n=document.createElement('i');e.append(n);e=n}}</script>",
    "/calls": "<script>p=new RTCPeerConnection({{iceServers:[{{urls:'stun:127.0.7.7:{canary}'}},{{urls:"
    "'turn:127.0.7.7:{canary}?transport=tcp',username:'a',credential:'b'}}]}});p.createDataChannel('x');"
    "p.createOffer().then(o=>p.setLocalDescription(o));new EventSource('http://127.0.7.7:{canary}/g');"
    "import('http://127.0.7.7:{canary}/h').catch(e=>0);window.WebTransport&&new WebTransport('https://127.0.7.7:{canary}/')"
    "</script>",
    "/inside": "<script>for(u of ['http://127.0.7.7:{canary}/a','ws://127.0.7.7:{canary}/b','/to-inside'])try{{"
    "u[0]=='w'?new WebSocket(u):fetch(u,{{mode:'no-cors'}})}}catch(e){{}};new Image().src='http://127.0.7.7:{canary}/c';"
    "navigator.sendBeacon('http://127.0.7.7:{canary}/d','x');fetch('/private/x');fetch('/posted',{{method:'POST'}});"
    "l=document.createElement('link');l.rel='preconnect';l.href='http://127.0.7.7:{canary}';document.head.append(l)"
    "</script>",
}


def words(number: int) -> str:
    """Return what page `number` says to whoever runs its scripts."""
    return f"<h1>Built {number}</h1><p>Words that scripts of page{number} wrote.</p>" + "".join(
        f"<a href=/page/{next_}>to {next_}</a>" for next_ in (number + 1, 2 * number + 1) if next_ < len(WAYS)
    )


class ScriptSite(Server):
    """Pages under /page/ are built by scripts, those under /plain/ are not; `harm` links to the harmful ones.

    Attributes
    ----------
    paths
        What was asked for, in order; POST requests with their method before the path.
    """

    def __init__(self, *, plain: int = 0, harm: tuple[str, ...] = (), canary: int = 1, **options: Any) -> None:
        super().__init__(**options)
        self.plain, self.harm, self.canary = plain, harm, canary
        self.paths: list[str] = []

    async def answer(self, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        method = self.requests[-1].split(b" ", 1)[0].decode()
        self.paths.append(path if method == "GET" else f"{method} {path}")
        status, kind, body = self.reply(path)
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        if status == 302:
            where = f"http://127.0.7.7:{self.canary}/e" if path == "/to-inside" else path.replace("moved", "api")
            head += f"Location: {where}\r\n"
        writer.write(head.encode() + b"\r\n" + body.encode())
        return True

    def reply(self, path: str) -> tuple[int, str, str]:
        import base64

        name, _, _ = path.partition("?")
        last = name.rpartition("/")[2]
        if name == "/robots.txt":
            return 200, "text/plain", "User-agent: *\nDisallow: /private/\n"
        if name == "/":
            links = [f"/plain/{i}" for i in range(self.plain)] + list(self.harm)
            body = f"<title>home</title>{'long enough to read ' * 80}<a href=/page/0>0</a>"
            return 200, "text/html", body + "".join(f"<a href={link}>x</a>" for link in links)
        if name.startswith("/page/") and last.isdigit() and int(last) < len(WAYS):
            number = int(last)
            text = words(number)
            way = WAYS[number].format(page=text, number=number, base64=base64.b64encode(text.encode()).decode())
            return 200, "text/html", f"<!DOCTYPE html><title>t{number}</title><body>{way}"
        if name.startswith("/plain/"):
            return 200, "text/html", f"<title>{last}</title><p>{f'plain words of {last} ' * 80}<a href=/>home</a>"
        if name.startswith("/api/"):
            return 200, "application/json", json.dumps({"page": words(int(last))})
        if name.startswith("/moved/") or name == "/to-inside":
            return 302, "text/plain", ""
        if name in ("/app.js", "/module.js"):
            texts = {number: words(number) for number in range(len(WAYS))}
            body = f"document.body.innerHTML={json.dumps(texts)}[location.pathname.split('/')[2]]"
            return 200, "text/javascript", body
        if name == "/late.js":
            return 200, "text/javascript", "function fill(text){document.body.innerHTML=text}"
        if name == "/styled":
            head = "<link rel=stylesheet href=/s.css><script src=/late.js></script>"
            return 200, "text/html", f"<title>styled</title>{head}<p>words <img src=/i.png>"
        if name in ("/s.css", "/b.css"):
            return 200, "text/css", "@import 'b.css'" if name == "/s.css" else "@font-face { src: url(f.woff2) }"
        if name in ("/f.woff2", "/i.png"):
            return 200, "font/woff2" if name == "/f.woff2" else "image/png", "x"
        if name in HARM:
            return 200, "text/html", f"<title>h</title><body><p>before</p>{HARM[name].format(canary=self.canary)}"
        return 404, "text/html", "nothing here"
