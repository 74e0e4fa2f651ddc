// The e-mail of an invoice as HTML that all mail programs show alike: tables and inline styles, no scripts, nothing to load.
// Outlook on Windows lays out with Word, and so gets a table of fixed width. Only programs that read style sheets show the
// colours of dark mode; all others show the inline colours.
import { html } from 'ghtml'
import type { DocumentPassage } from '../../generated/contract.ts'
import { fitted } from '../../platform/rendering/brand.ts'
import { type EmailContent, type EmailLine, logoCid } from './email-content.ts'

const body = 'font-size:16px;line-height:24px;color:#1f2937;'
const small = 'font-size:14px;line-height:20px;color:#5b6472;'
const ruled = 'border-top:1px solid #e5e7eb;'
/** A word longer than the column, such as a URL, must not widen the mail. Each line has its own direction. */
const prose = 'word-break:break-word;overflow-wrap:anywhere;unicode-bidi:plaintext;'
const item = 'font-size:15px;line-height:22px;color:#1f2937;vertical-align:top;'
const startCell = `text-align:left;vertical-align:top;${prose}`
const amountCell = 'text-align:right;vertical-align:top;white-space:nowrap;font-variant-numeric:tabular-nums;'

export function emailHtml(content: EmailContent): string {
	const { document, heading, sender, headline, link, attachmentNote } = content
	return html`<!doctype html>
<html lang="${document.language}" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<title>${heading}</title>
!${styles}
</head>
<body class="page" style="margin:0;padding:0;background-color:#f3f4f6;-webkit-text-size-adjust:100%;">
<div style="display:none;max-height:0;overflow:hidden;mso-hide:all;">${content.preview}!${previewEnd}</div>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:#f3f4f6;">
<tr><td align="center" class="margin" style="padding:32px 16px;">
<!--[if mso]><table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px;font-family:-apple-system,BlinkMacSystemFont,Segoe UI,Roboto,Helvetica,Arial,sans-serif;text-align:left;text-align:start;">
<tr><td class="card" style="padding:32px;background-color:#ffffff;border-top:4px solid ${content.accent};border-radius:12px;">
!${logo(content)}<p dir="auto" class="ink" style="margin:0;${body}font-weight:600;${prose}">${sender}</p>
<h1 dir="auto" class="muted" style="margin:0 0 24px;${small}font-weight:400;">${heading}</h1>
!${message(content)}
<p class="muted" style="margin:0;${small}">${headline.label}</p>
<p class="ink" style="margin:0 0 12px;font-size:36px;line-height:44px;font-weight:700;letter-spacing:-0.5px;color:#111827;${prose}">${headline.value}</p>
!${facts(content)}
!${link ? button(link, content.accent) : ''}
!${linesTable(content)}
!${totalsTable(content)}
!${document.passages.map(passage)}<p class="muted rule" style="margin:28px 0 0;padding-top:16px;${ruled}${small}">${attachmentNote}</p>
</td></tr>
<tr><td class="muted" style="padding:20px 32px 0;font-size:12px;line-height:18px;color:#5b6472;text-align:center;${prose}">!${document.seller.map((line) => html`<bdi>${line}</bdi>`).join(' · ')}!${document.footer ? html`<br><bdi>!${breaks(document.footer)}</bdi>` : ''}</td></tr>
</table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr>
</table>
</body>
</html>
`
}

const styles = html`<style>
:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (max-width:480px){.margin{padding:16px 8px!important}.card{padding:24px 20px!important}}
@media (prefers-color-scheme:dark){
.page{background-color:#0f1318!important}
.card{background-color:#1b212a!important}
.ink{color:#f3f4f6!important}
.muted{color:#aab4c0!important}
.rule{border-color:#353e4a!important}
}
</style>
<!--[if mso]><style>body,td,th,p,h1,h2,a{font-family:Arial,sans-serif!important}</style><![endif]-->`

/** On white, since it may be dark. Programs that do not show images show the name, which follows. */
function logo({ logo: image }: EmailContent): string {
	if (!image) return ''
	const { width, height } = fitted(image, { width: 200, height: 56 })
	return html`<img src="cid:${logoCid}" width="${String(Math.round(width))}" height="${String(Math.round(height))}" alt="" style="display:block;margin:0 0 16px;border:0;background-color:#ffffff;">
`
}

/** Fills the inbox's preview, so that it does not show the text that follows in the mail. */
const previewEnd = '&#847;&zwnj;&nbsp;'.repeat(60)

function message({ message: text }: EmailContent): string {
	if (text === null) return ''
	return html`<p dir="auto" class="ink" style="margin:0 0 28px;${body}${prose}">!${breaks(text)}</p>`
}

const breaks = (text: string) =>
	text
		.split(/\r\n|\r|\n/)
		.map((line) => html`${line}`)
		.join('<br>')

function facts({ document }: EmailContent): string {
	if (document.facts.length === 0) return ''
	return html`<table role="presentation" cellpadding="0" cellspacing="0" border="0">
!${document.facts.map(
		({ label, value }) => html`<tr>
<td class="muted" style="padding:2px 20px 2px 0;${small}vertical-align:top;white-space:nowrap;">${label}</td>
<td dir="auto" class="ink" style="padding:2px 0;font-size:14px;line-height:20px;color:#1f2937;${prose}">${value}</td>
</tr>
`,
	)}</table>`
}

/** The border gives the button its height in Outlook, which ignores the padding of links. */
function button({ label, url }: { label: string; url: string }, accent: string): string {
	return html`<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin-top:24px;">
<tr><td style="background-color:${accent};border-radius:8px;">
<a href="${url}" style="display:inline-block;padding:0 8px;border:12px solid ${accent};border-radius:8px;background-color:${accent};font-size:16px;line-height:20px;font-weight:600;color:#ffffff;text-decoration:none;">${label}</a>
</td></tr>
</table>`
}

function passage({ title, text }: DocumentPassage): string {
	return html`<h2 class="ink" style="margin:24px 0 4px;font-size:14px;line-height:20px;font-weight:600;color:#1f2937;">${title}</h2>
<p dir="auto" class="muted" style="margin:0;${small}${prose}">!${breaks(text)}</p>
`
}

function linesTable({ lines, omitted, words }: EmailContent): string {
	if (lines.length === 0) return ''
	const head = `padding:0 0 8px;${small}font-weight:400;`
	return html`<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin-top:32px;">
<tr><th scope="col" class="muted" style="${head}text-align:left;">${words.description}</th><th scope="col" class="muted" style="${head}${amountCell}">${words.amount}</th></tr>
!${lines.map(lineRow)}!${omitted ? html`<tr><td colspan="2" class="muted rule" style="padding:12px 0;${ruled}${small}">${omitted}</td></tr>` : ''}</table>`
}

const looks = { heading: 'font-weight:600;', discount: 'font-style:italic;' } as const

const lineRow = ({ kind, description, details, amount }: EmailLine) => html`<tr>
<td class="ink rule" style="padding:12px 16px 12px 0;${ruled}${item}"><div dir="auto" style="${kind ? looks[kind] : ''}${prose}">!${breaks(description)}</div>!${details ? html`<div dir="auto" class="muted" style="${small}${prose}">${details}</div>` : ''}</td>
<td class="ink rule" style="padding:12px 0;${ruled}${item}${amountCell}">${amount}</td>
</tr>
`

function totalsTable({ document, lines }: EmailContent): string {
	const gap = lines.length === 0 ? 'margin-top:32px;' : ''
	return html`<table class="rule" width="100%" cellpadding="0" cellspacing="0" border="0" style="${gap}${ruled}padding-top:8px;">
!${document.totals.map(({ label, value, kind }) => (kind === 'plain' ? plainTotal(label, value) : strongTotal(label, value)))}</table>`
}

const plainTotal = (label: string, value: string) => html`<tr>
<th scope="row" class="muted" style="padding:4px 16px 4px 0;${small}font-weight:400;${startCell}">${label}</th>
<td class="muted" style="padding:4px 0;${small}${amountCell}">${value}</td>
</tr>
`

const strongTotal = (label: string, value: string) => html`<tr>
<th scope="row" class="ink" style="padding:6px 16px 6px 0;${body}font-weight:600;${startCell}">${label}</th>
<td class="ink" style="padding:6px 0;${body}font-weight:600;${amountCell}">${value}</td>
</tr>
`
