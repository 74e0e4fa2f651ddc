// The e-mail of an invoice as plain text, with everything that the HTML says, and amounts in a column on the right.
import type { EmailContent, EmailLine } from './email-content.ts'

const width = 72

export function emailText(content: EmailContent): string {
	const { document, subject, message, headline, link, lines, omitted, attachmentNote } = content
	const facts = [headline, ...document.facts]
	const labels = Math.max(...facts.map(({ label }) => label.length))
	const rule = '-'.repeat(width)
	const table = [
		rule,
		...lines.flatMap(lineRows),
		...(omitted ? [omitted] : []),
		rule,
		...document.totals.flatMap(({ label, value }) => amountRow(label, value)),
	]
	const blocks = [
		...(message ? [wrap(message)] : []),
		wrap(subject),
		facts.map(({ label, value }) => `${label.padEnd(labels)}  ${value}`),
		...(link ? [[`${link.label}:`, link.url]] : []),
		table,
		...document.passages.map(({ title, text }) => [title, ...wrap(text)]),
		[attachmentNote],
		['-- ', ...document.seller, ...(document.footer ? wrap(document.footer) : [])],
	]
	return `${blocks.map((block) => block.join('\n')).join('\n\n')}\n`
}

function lineRows({ description, details, amount }: EmailLine): string[] {
	const rows = amountRow(description, amount)
	return details ? [...rows, `  ${details}`] : rows
}

/** The text, with the amount at the end of its first row, or in a row below when there is no room. */
function amountRow(text: string, amount: string): string[] {
	const [first = '', ...rest] = wrap(text, width - amount.length - 2)
	if (!amount) return [first, ...rest]
	if (first.length + amount.length + 2 > width) return [first, ...rest, amount.padStart(width)]
	return [first.padEnd(width - amount.length) + amount, ...rest]
}

/** Keeps the line breaks, and breaks longer lines at blanks; a long word, such as a URL, stays whole. */
const wrap = (text: string, columns = width): string[] =>
	text.split(/\r\n|\r|\n/).flatMap((line) => wrapLine(line.trimEnd(), columns))

function wrapLine(line: string, columns: number): string[] {
	const rows: string[] = []
	let row = ''
	for (const word of line.split(/(?<=\S) +/)) {
		if (row && row.length + 1 + word.length > columns) {
			rows.push(row)
			row = word
		} else row = row ? `${row} ${word}` : word
	}
	return [...rows, row]
}
