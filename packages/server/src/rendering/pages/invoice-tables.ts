// The tables of an invoice. On a phone their rows are not laid out as a table, and some browsers then hide the table from a
// screen reader, so the ARIA roles are written out. Values stand in `bdi`, so that Arabic beside Latin text keeps its order.
import { html } from 'ghtml'
import type { DocumentLine, DocumentTable, InvoiceDocument } from '../document.ts'
import { wordsOf } from '../words/languages.ts'

interface Column {
	readonly label: string
	readonly classes: string
}

interface LineColumn extends Column {
	readonly field: keyof DocumentLine
}

export function linesTable({ language, lines, columns }: InvoiceDocument): string {
	const words = wordsOf(language)
	const shown: LineColumn[] = [
		{ field: 'description', label: words.description, classes: 'description' },
		{ field: 'quantity', label: words.quantity, classes: 'number' },
		{ field: 'unitPrice', label: words.unitPrice, classes: 'number unit-price' },
		...(columns.discount ? [{ field: 'discount', label: words.discount, classes: 'number labelled' } as const] : []),
		...(columns.tax ? [{ field: 'tax', label: words.tax, classes: 'number labelled' } as const] : []),
		{ field: 'amount', label: words.amount, classes: 'number amount-cell' },
	]
	const rows = lines.map((line) =>
		row(
			shown,
			shown.map(({ field }) => line[field]),
		),
	)
	return html`
<table class="lines${columns.discount && columns.tax ? ' wide' : ''}" role="table">
<caption class="hidden">${words.page.items}</caption>
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

function row(columns: readonly Column[], values: readonly string[]): string {
	const cells = columns.map(({ label, classes }, index) => {
		const value = values[index]
		const labelled = classes.includes('labelled') ? html` data-label="${label}"` : ''
		return html`<td role="cell" class="${classes}"!${labelled}>!${value ? html`<bdi>${value}</bdi>` : ''}</td>`
	})
	return html`<tr role="row">!${cells}</tr>`
}
