// The e-mail that brings a person a link: an invitation, or one to set a new password. A pure function. It is in English, as the web
// application that it leads to.
import { html } from 'ghtml'

export interface LinkEmail {
	readonly subject: string
	/** What it is about, a paragraph each. */
	readonly paragraphs: readonly string[]
	readonly link: { readonly label: string; readonly url: string }
	/** How long the link works, and what to do with a mail that nobody asked for. */
	readonly note: string
}

const font = 'font-family:-apple-system,BlinkMacSystemFont,Segoe UI,Roboto,Helvetica,Arial,sans-serif;'
const body = 'margin:0 0 16px;font-size:16px;line-height:24px;color:#1f2937;'
const small = 'margin:0 0 12px;font-size:14px;line-height:20px;color:#5b6472;'
/** A word longer than the column, such as a URL, must not widen the mail. */
const prose = 'word-break:break-word;overflow-wrap:anywhere;unicode-bidi:plaintext;'
const button =
	'display:inline-block;padding:12px 24px;border-radius:9px;background-color:#2d46c4;color:#ffffff;font-size:16px;font-weight:600;text-decoration:none;'

export const renderLinkEmail = ({ subject, paragraphs, link, note }: LinkEmail) => ({
	subject,
	text: `${[...paragraphs, `${link.label}: ${link.url}`, note].join('\n\n')}\n`,
	html: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${subject}</title>
</head>
<body style="margin:0;padding:0;background-color:#f3f4f6;">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:#f3f4f6;">
<tr><td align="center" style="padding:32px 16px;">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:520px;${font}text-align:left;">
<tr><td style="padding:32px;background-color:#ffffff;border-radius:14px;">
!${paragraphs.map((text) => html`<p style="${body}${prose}">${text}</p>`)}
<p style="margin:24px 0;"><a href="${link.url}" style="${button}">${link.label}</a></p>
<p style="${small}${prose}">${link.url}</p>
<p style="${small}margin-bottom:0;">${note}</p>
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`,
})
