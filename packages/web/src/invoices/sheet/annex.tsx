import type { DocumentTable } from '@remit/sdk'

/** A table behind the invoice: its hours by rate, or its timesheet. */
export const Annex = ({ table: { title, columns, rows, sum } }: { table: DocumentTable }) => (
	<section className="sheet-annex">
		<h3>{title}</h3>
		<table className="sheet-lines">
			<thead>
				<tr>
					{columns.map(({ label, numeric }) => (
						<th key={label} scope="col" className={numeric ? 'number' : undefined}>
							{label}
						</th>
					))}
				</tr>
			</thead>
			<tbody>
				{[...rows, sum].map((cells, index) => (
					// biome-ignore lint/suspicious/noArrayIndexKey: two rows may say the same.
					<tr key={index} className={index === rows.length ? 'sum' : undefined}>
						{columns.map(({ label, numeric }, column) => (
							<td
								key={label}
								className={numeric ? 'number' : undefined}
								data-label={column > 0 && cells[column] ? label : undefined}
							>
								{cells[column]}
							</td>
						))}
					</tr>
				))}
			</tbody>
		</table>
	</section>
)
