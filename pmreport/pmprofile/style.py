"""The style sheet of a report's page: both themes, wide and narrow pages, print."""

STYLE = """:root{--page:#fff;--ink:#1f2933;--soft:#52606d;--rule:#d9dee4;--warn:#fdf3e1;--warnrule:#b4530a;--bound:#b3123f;
--c0:#2a78b5;--c1:#e8951c;--c2:#2f9d78;--c3:#c9699f;--c4:#7cc4ec;--c5:#c2531b;--c6:#8569c0;--c7:#a89d1f;--others:#a3adb8;
--phase:#52606d;color-scheme:light dark}
@media(prefers-color-scheme:dark){:root{--page:#14181d;--ink:#e4e7eb;--soft:#a3afbc;--rule:#323a44;--warn:#3a2f18;--warnrule:#f0a35e;
--bound:#ff9db5;--c0:#3f8fd0;--c1:#e8a23c;--c2:#3fae88;--c3:#d383b2;--c4:#93cdec;--c5:#d96a35;--c6:#9c84d3;--c7:#bdb23c;
--others:#6b7682;--phase:#a3afbc}}
@media print{:root{--page:#fff;--ink:#000;--soft:#333;--rule:#bbb;--bound:#b3123f;--phase:#333}section,tr,figure{break-inside:avoid}}
*{box-sizing:border-box;print-color-adjust:exact;-webkit-print-color-adjust:exact}
body{font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:1.5rem auto;padding:0 1rem;color:var(--ink);background:var(--page)}
h1,h2,p,li,td,summary,figcaption{overflow-wrap:anywhere}h1{margin:0 0 .5rem}section+h1{margin-top:4rem;border-top:1px solid var(--rule);padding-top:1.5rem}h2{margin:2.2rem 0 .6rem;font-size:1.2rem}
p{max-width:52rem;margin:.5rem 0}.soft,figcaption{color:var(--soft)}figcaption{font-size:13px;margin-top:.4rem;max-width:52rem}
dl{display:flex;flex-wrap:wrap;gap:.6rem 2rem;margin:.5rem 0}dt{color:var(--soft);font-size:13px}dd{margin:0;font-size:1.15rem}
.warn{background:var(--warn);border-left:4px solid var(--warnrule);padding:.5rem 1rem}
.beside{margin-top:2rem;display:grid;grid-template-columns:760fr 358fr;gap:1.5rem 2rem;align-items:start}
figure{margin:0;min-width:0}svg{display:block;width:100%;height:auto;font-size:12px}
figure h2{margin-top:0}.chart{max-width:760px}.narrow{display:none}
.tick{fill:var(--soft)}.track{fill:var(--rule);fill-opacity:.6}.name{fill:var(--ink);font-weight:600}.phase{fill:var(--phase)}
.grid{stroke:var(--rule)}.axis{stroke:var(--soft)}.mark{stroke:var(--ink);stroke-opacity:.28;stroke-dasharray:2 3}
line.bound{stroke:var(--bound);stroke-width:1.5;stroke-dasharray:6 4}
text.bound{fill:var(--bound);font-weight:600;paint-order:stroke;stroke:var(--page);stroke-width:3px;stroke-linejoin:round}
.c0{fill:var(--c0);background:var(--c0)}.c1{fill:var(--c1);background:var(--c1)}.c2{fill:var(--c2);background:var(--c2)}
.c3{fill:var(--c3);background:var(--c3)}.c4{fill:var(--c4);background:var(--c4)}.c5{fill:var(--c5);background:var(--c5)}
.c6{fill:var(--c6);background:var(--c6)}.c7{fill:var(--c7);background:var(--c7)}
path.served,path.first{fill:none;stroke-width:2}path.served{stroke:var(--c0)}path.first{stroke:var(--others)}
span.served{background:var(--c0)}span.first{background:var(--others)}
.others{fill:var(--others);background:var(--others)}
.legend{list-style:none;margin:.8rem 0 0;padding:0;font-size:13px;display:grid;grid-template-columns:repeat(auto-fill,minmax(20rem,1fr));
gap:.15rem 1.5rem}.legend li{display:grid;grid-template-columns:12px 1fr auto;gap:.5rem;align-items:baseline}
.swatch{display:inline-block;width:12px;height:12px;border-radius:2px;flex:none}.size{white-space:nowrap;color:var(--soft)}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px}
td,th{padding:.25rem .6rem;text-align:right;border-bottom:1px solid var(--rule);vertical-align:top}td{white-space:nowrap}
th{vertical-align:bottom;color:var(--soft);font-weight:600}
td.text,th.text{text-align:left}td.text{white-space:normal}td.site{font-family:ui-monospace,monospace;min-width:16rem}
td .swatch{margin-right:.5rem}summary{cursor:pointer;margin:.6rem 0;color:var(--soft)}
@media(max-width:1000px){.beside{grid-template-columns:1fr}.beside figure+figure{max-width:30rem}}
@media(max-width:700px){.wide{display:none}.narrow{display:block;max-width:30rem}.legend{grid-template-columns:1fr}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}table,tbody{display:block}
tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(4.8rem,1fr));gap:.3rem .8rem;padding:.5rem 0;border-bottom:1px solid var(--rule)}
td{border:0;padding:0;text-align:left;white-space:normal}td::before{content:attr(data-label);display:block;white-space:normal;color:var(--soft);font-size:12px}
td.text{grid-column:1/-1;order:-1;min-width:0}td.text::before{content:none}}"""
