// The one style sheet of the hosted pages. It stands in the page itself, and the Content-Security-Policy lets in exactly this
// text by its hash: no other style, font, image or script is loaded.
import { createHash } from 'node:crypto'

const colours = `
:root {
	color-scheme: light dark;
	--ground: #f3f4f6; --card: #fff; --edge: #e2e5ea; --line: #eceef1;
	--text: #14181f; --quiet: #59616e;
	--accent: #2d46c4; --on-accent: #fff; --hover: #22369c;
	--good: #146c3a; --good-ground: #e3f4e9; --bad: #a8201a; --bad-ground: #fdeceb; --plain-ground: #eceef2;
	--test: #7a4a00; --test-ground: #fdf0d5;
	--shadow: 0 1px 2px #14181f0f, 0 8px 24px #14181f0d;
}
@media screen and (prefers-color-scheme: dark) {
	:root {
		--ground: #101318; --card: #191d24; --edge: #2c323c; --line: #262b34;
		--text: #eceff4; --quiet: #a3acba;
		--accent: #9db0ff; --on-accent: #10142b; --hover: #bccaff;
		--good: #7fd8a2; --good-ground: #15301f; --bad: #ffa39c; --bad-ground: #3b1917; --plain-ground: #272d37;
		--test: #f0c26b; --test-ground: #33260d;
		--shadow: none;
	}
}`

const frame = `
*, ::before, ::after { box-sizing: border-box; margin: 0; padding: 0; }
html { font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; -webkit-text-size-adjust: 100%; }
body { background: var(--ground); color: var(--text); overflow-wrap: anywhere; }
main { max-width: 54rem; margin: 0 auto; padding: 3rem 1.5rem 4rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem; }
.card { background: var(--card); border: 1px solid var(--edge); border-radius: 14px; box-shadow: var(--shadow); padding: 2.25rem 2.5rem; }
.narrow { max-width: 32rem; }
h1 { font-size: 1.0625rem; font-weight: 600; }
h2 { font-size: 1.5rem; font-weight: 650; line-height: 1.25; letter-spacing: -.01em; }
h3 { font-size: .875rem; font-weight: 600; }
dt { color: var(--quiet); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.print { display: none; }
.badge { border-radius: 99px; padding: .125rem .75rem; font-size: .8125rem; font-weight: 600; background: var(--plain-ground); }
.badge.paid, .badge.good { color: var(--good); background: var(--good-ground); }
.badge.overdue, .badge.bad { color: var(--bad); background: var(--bad-ground); }
.badge.test { color: var(--test); background: var(--test-ground); }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.75rem; }
.button {
	display: inline-block; font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer; overflow-wrap: anywhere;
	min-height: 2.75rem; padding: .5625rem 1.375rem; border: 1px solid var(--edge); border-radius: 9px; background: var(--card); color: var(--text);
}
.button:hover { border-color: var(--quiet); }
.button.primary { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
.button.primary:hover { border-color: var(--hover); background: var(--hover); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }`

const summary = `
.heading { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: .25rem 1rem; }
.amount { font-size: clamp(2rem, 7vw, 2.75rem); font-weight: 680; line-height: 1.15; letter-spacing: -.02em; margin-top: 1rem; font-variant-numeric: tabular-nums; }
.standing { margin-top: .25rem; color: var(--quiet); }
.amount.cancelled { color: var(--quiet); text-decoration: line-through .06em; }
.standing.paid { color: var(--good); font-weight: 500; }
.standing.overdue { color: var(--bad); font-weight: 500; }
.parties { margin-top: 1.5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); display: grid; grid-template-columns: fit-content(50%) minmax(0, 1fr); gap: .25rem 1.25rem; }
.message h1 { font-size: 1.375rem; line-height: 1.3; }
.message .badge + h1 { margin-top: 1rem; }
.message h1 + p { margin-top: .5rem; color: var(--quiet); }
.card.test { border: 2px dashed var(--test); }`

const invoice = `
.letterhead, .meta { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 22rem); gap: 1.5rem 2.5rem; align-items: start; }
.meta { margin-top: 2rem; font-size: .9375rem; }
.letterhead address { font-style: normal; }
.address { font-size: .9375rem; list-style: none; }
.address li:first-child { font-weight: 600; }
.meta h3 { color: var(--quiet); font-weight: 400; font-size: inherit; }
.facts { grid-column: -2 / -1; display: grid; grid-template-columns: fit-content(50%) minmax(0, 1fr); gap: .125rem 1.25rem; }
.lines, .annex { margin-top: 2.25rem; }
.lines, .annex table { width: 100%; border-collapse: collapse; font-size: .9375rem; font-variant-numeric: tabular-nums; }
th { overflow-wrap: normal; font-size: .8125rem; font-weight: 500; color: var(--quiet); vertical-align: bottom; }
th, td { text-align: start; padding: .6875rem 0 .6875rem 1.25rem; border-bottom: 1px solid var(--line); }
th { padding-block: .375rem; border-color: var(--edge); }
td { vertical-align: top; }
th:first-child, td:first-child { padding-inline-start: 0; }
.number { text-align: end; }
.number bdi { display: inline-block; max-width: 11em; overflow-wrap: break-word; }
.wide td { font-size: .875rem; }
.wide .number bdi, .annex .number bdi { max-width: 8em; }
:where(td:not(.number)) { min-width: 8em; }
td bdi, .text { white-space: pre-line; }
tfoot td { font-weight: 600; border-bottom: 0; border-top: 1px solid var(--edge); }
.totals { margin: 1.25rem 0 0 auto; width: 22rem; max-width: 100%; font-size: .9375rem; font-variant-numeric: tabular-nums; }
.totals div { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1.5rem; padding: .25rem 0; }
.totals dd { margin-inline-start: auto; text-align: end; }
.totals .total, .totals .due { font-weight: 650; border-top: 1px solid var(--edge); margin-top: .375rem; padding-top: .625rem; }
.totals .total dt, .totals .due dt { color: inherit; }
.totals .due { font-size: 1.125rem; }
.words { margin-top: 2rem; font-size: .9375rem; }
.words h3 + p { margin-top: .125rem; color: var(--quiet); }
.annex { padding-top: 2rem; border-top: 1px solid var(--edge); }
.annex h2 { font-size: 1.125rem; margin-bottom: .75rem; }`

// The rows become lines that wrap; their ARIA roles keep them a table for a screen reader.
const phone = `
@media screen and (max-width: 48rem) {
	.lines, .annex table, thead, tbody, tfoot { display: block; }
	thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
	tbody { border-top: 1px solid var(--edge); }
	tr { display: flex; flex-wrap: wrap; gap: .125rem .25rem; padding: .75rem 0; border-bottom: 1px solid var(--line); }
	.annex tr { justify-content: space-between; column-gap: 1rem; }
	tfoot tr { border: 0; }
	td, tfoot td { display: block; min-width: 0; max-width: 100%; border: 0; padding: 0; }
	td:empty { position: absolute; }
	td.number { text-align: start; color: var(--quiet); }
	.number bdi { display: inline; overflow-wrap: inherit; }
	td.unit-price:not(:empty)::before { content: '× '; content: '× ' / ''; }
	.lines .amount-cell { margin-inline-start: auto; text-align: end; color: inherit; font-weight: 500; }
	.description, .lines .labelled, .annex .text { flex: 0 0 100%; }
	.wide td { font-size: inherit; }
	.lines .labelled { order: 1; }
	.annex td.number:last-child { margin-inline-start: auto; }
	td.labelled:not(:empty)::before { content: attr(data-label) ' '; content: attr(data-label) ' ' / ''; font-weight: 400; }
	.lines td.labelled:not(:empty)::before { content: attr(data-label) ': '; content: attr(data-label) ': ' / ''; }
}
@media screen and (max-width: 40rem) {
	main { padding: .75rem .75rem 2.5rem; gap: .75rem; }
	.card { padding: 1.5rem 1.25rem; }
	.letterhead, .meta { grid-template-columns: minmax(0, 1fr); }
	.actions form, .actions .button, .totals { width: 100%; }
}`

// A footer would repeat on each page like the header: as rows it comes once, at the end.
const print = `
@page { margin: 16mm; }
@media print {
	:root { color-scheme: light; --text: #000; --quiet: #333; --line: #ccc; --edge: #999; }
	html { font-size: 11pt; }
	body { background: #fff; }
	main { display: block; max-width: none; padding: 0; }
	.card { border: 0; border-radius: 0; box-shadow: none; padding: 0; }
	.summary, .actions { display: none; }
	.print:is(.draft, .paid, .cancelled) { display: block; }
	.badge.print { padding: 0; background: none; color: #000; }
	tr, .totals, .letterhead, .meta, .annex { break-inside: avoid; }
	td { padding-block: .375rem; }
	h2, h3 { break-after: avoid; }
	tfoot { display: table-row-group; }
	p { orphans: 3; widows: 3; }
}`

export const style = [colours, frame, summary, invoice, phone, print].join('\n')

/** The source expression that allows it, for `style-src`. */
export const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`
