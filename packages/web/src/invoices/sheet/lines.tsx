import type { DocumentLine, InvoiceDocument } from '@remit/sdk'

type LineColumn = Exclude<keyof DocumentLine, 'kind'>

/** A name on a phone, where the columns have no heads. */
const named: readonly LineColumn[] = ['discount', 'tax']

export function Lines({ document: { columns, labels, lines } }: { document: InvoiceDocument }) {
	const all: readonly LineColumn[] = ['description', 'quantity', 'unitPrice', 'discount', 'tax', 'amount']
	const shown = all.filter((name) => (name !== 'discount' && name !== 'tax') || columns[name])
	const classOf = (name: LineColumn) => (name === 'description' ? undefined : `number ${name}`)
	return (
		<table className="sheet-lines">
			<thead>
				<tr>
					{shown.map((name) => (
						<th key={name} scope="col" className={classOf(name)}>
							{labels[name]}
						</th>
					))}
				</tr>
			</thead>
			<tbody>
				{lines.map((line, index) => (
					// biome-ignore lint/suspicious/noArrayIndexKey: two lines may say the same.
					<tr key={index}>
						{line.kind === 'heading' ? (
							<th scope="rowgroup" colSpan={shown.length} className="sheet-heading">
								{line.description}
							</th>
						) : (
							shown.map((name) => (
								<td
									key={name}
									className={classOf(name)}
									data-label={named.includes(name) && line[name] ? labels[name] : undefined}
								>
									{line[name]}
								</td>
							))
						)}
					</tr>
				))}
			</tbody>
		</table>
	)
}
