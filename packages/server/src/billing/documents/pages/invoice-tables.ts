// The tables of an invoice. On a phone their rows are not laid out as a table, and some browsers then hide the table from a
// screen reader, so the ARIA roles are written out. Values stand in `bdi`, so that Arabic beside Latin text keeps its order.
import { html } from 'ghtml'
import type { DocumentLine, DocumentTable, InvoiceDocument } from '../../../generated/contract.ts'
import { wordsOf } from '../../../platform/rendering/words/languages.ts'

interface Column {
	readonly label: string
	readonly classes: string
}

interface LineColumn extends Column {
	readonly field: keyof DocumentLine
}

export function linesTable({ language, labels, lines, columns }: InvoiceDocument): string {
	const shown: LineColumn[] = [
		{ field: 'description', label: labels.description, classes: 'description' },
		{ field: 'quantity', label: labels.quantity, classes: 'number' },
		{ field: 'unitPrice', label: labels.unitPrice, classes: 'number unit-price' },
		...(columns.discount ? [{ field: 'discount', label: labels.discount, classes: 'number labelled' } as const] : []),
		...(columns.tax ? [{ field: 'tax', label: labels.tax, classes: 'number labelled' } as const] : []),
		{ field: 'amount', label: labels.amount, classes: 'number amount-cell' },
	]
	const rows = lines.map((line) =>
		line.kind === 'heading'
			? headingRow(line.description, shown.length)
			: row(
					shown,
					shown.map(({ field }) => line[field] ?? ''),
					line.kind,
				),
	)
	return html`
<table class="lines${columns.discount && columns.tax ? ' wide' : ''}" role="table">
<caption class="hidden">${wordsOf(language).page.items}</caption>
!${head(shown)}
<tbody role="rowgroup">!${rows}</tbody>
</table>`
}

/** A table in the annex under its title; `id` links the two for screen readers. */
export function annex(id: string, { title, columns, rows, sum }: DocumentTable): string {
	// The first column names the row, so it is text even when it is numeric.
	const shown = columns.map(({ label, numeric }, index) => ({
		label,
		classes: numeric && index > 0 ? 'number labelled' : 'text',
	}))
	return html`
<section class="annex">
<h2 id="${id}">${title}</h2>
<table role="table" aria-labelledby="${id}">
!${head(shown)}
<tbody role="rowgroup">!${rows.map((cells) => row(shown, cells))}</tbody>
<tfoot role="rowgroup">!${row(shown, sum)}</tfoot>
</table>
</section>`
}

function head(columns: readonly Column[]): string {
	const cells = columns.map(({ label, classes }) => html`<th scope="col" role="columnheader" class="${classes}">${label}</th>`)
	return html`<thead role="rowgroup"><tr role="row">!${cells}</tr></thead>`
}

const headingRow = (text: string, columns: number) =>
	html`<tr role="row" class="heading-row"><td role="cell" colspan="${String(columns)}" class="description"><bdi>${text}</bdi></td></tr>`

/** Longer numbers may break, so that a table fits into the window. */
const longestNumber = 24

function row(columns: readonly Column[], values: readonly string[], kind = ''): string {
	const cells = columns.map(({ label, classes }, index) => {
		const value = values[index]
		const labelled = classes.includes('labelled') ? html` data-label="${label}"` : ''
		return html`<td role="cell" class="${classes}"!${labelled}>!${value ? cellText(value, classes) : ''}</td>`
	})
	return html`<tr role="row"!${kind ? html` class="${kind}-row"` : ''}>!${cells}</tr>`
}

const cellText = (value: string, classes: string) =>
	classes.includes('number') && value.length <= longestNumber
		? html`<bdi class="short">${value}</bdi>`
		: html`<bdi>${value}</bdi>`
