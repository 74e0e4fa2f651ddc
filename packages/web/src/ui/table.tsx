import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import './table.css'

export interface Column<Row> {
	readonly id: string
	readonly label: string
	readonly cell: (row: Row) => ReactNode
	/** Numbers and amounts stand on the right. */
	readonly isNumber?: boolean
	/** Share of the width; 1 when absent. */
	readonly grow?: number
	/** On a phone: the first line left (`title`) or right (`figure`), the second line (`note`, `aside`), or nowhere when absent. */
	readonly phone?: 'title' | 'figure' | 'note' | 'aside'
	/** In place of the label, such as a link that sorts. */
	readonly head?: ReactNode
	readonly sort?: 'ascending' | 'descending' | undefined
}

/** Rows that are chosen to do something with them all. */
export interface Selection<Row> {
	readonly chosen: ReadonlySet<string>
	readonly onChange: (chosen: ReadonlySet<string>) => void
	readonly nameOf: (row: Row) => string
	/** In place of `onChange` when the box of the head is checked: of a list that goes on. */
	readonly onAll?: () => void
}

interface TableProps<Row> {
	readonly label: string
	readonly columns: readonly Column<Row>[]
	readonly rows: readonly Row[]
	readonly idOf: (row: Row) => string
	/** A row is drawn as a link to its record: what `children` makes of a cell's content. */
	readonly link?: (row: Row, content: ReactNode) => ReactNode
	/** Called when the last rows come into view; absent when the rows are all that there are. */
	readonly onEnd?: (() => void) | undefined
	/** New data is on its way; the old one stays. */
	readonly isStale?: boolean
	readonly selection?: Selection<Row>
}

const rowHeight = () => (matchMedia('(max-width: 48rem)').matches ? 64 : 48)

/** A plain table whose rows are drawn while they are in view, however long the list is. It scrolls with the page. */
export function Table<Row>({ label, columns, rows, idOf, link, onEnd, isStale = false, selection }: TableProps<Row>) {
	const body = useRef<HTMLTableSectionElement>(null)
	const [top, setTop] = useState(0)
	useLayoutEffect(() => setTop((body.current?.getBoundingClientRect().top ?? 0) + scrollY), [])
	const virtual = useWindowVirtualizer({
		count: rows.length,
		estimateSize: rowHeight,
		overscan: 12,
		scrollMargin: top,
		getItemKey: (index) => idOf(rows[index] as Row),
	})
	const items = virtual.getVirtualItems()
	const last = items.at(-1)?.index ?? 0
	useEffect(() => {
		if (last >= rows.length - 20) onEnd?.()
	}, [last, rows.length, onEnd])
	const above = (items[0]?.start ?? top) - top
	const below = virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top)
	const sum = columns.reduce((total, { grow = 1 }) => total + grow, 0)
	const span = columns.length + (selection ? 1 : 0)
	const choose = useChoose(rows, idOf, selection)
	return (
		<table className="table" aria-label={label} aria-rowcount={onEnd ? -1 : rows.length + 1} data-stale={isStale || undefined}>
			<colgroup>
				{selection && <col width="48" />}
				{columns.map(({ id, grow = 1 }) => (
					<col key={id} width={`${(grow / sum) * 100}%`} />
				))}
			</colgroup>
			<thead>
				<tr>
					{selection && (
						<th scope="col" className="choose">
							<Choice
								label={`Select all ${label.toLowerCase()}`}
								isChosen={rows.length > 0 && selection.chosen.size === rows.length}
								isMixed={selection.chosen.size > 0 && selection.chosen.size < rows.length}
								onChange={(isChosen) =>
									isChosen && selection.onAll ? selection.onAll() : selection.onChange(new Set(isChosen ? rows.map(idOf) : []))
								}
							/>
						</th>
					)}
					{columns.map(({ id, label: text, head, sort, isNumber }) => (
						<th key={id} scope="col" className={isNumber ? 'number' : undefined} aria-sort={sort}>
							{head ?? text}
						</th>
					))}
				</tr>
			</thead>
			<tbody ref={body}>
				{above > 0 && <Gap height={above} span={span} />}
				{items.map(({ index, key }) => {
					const row = rows[index] as Row
					return (
						<tr key={key as string} aria-rowindex={index + 2} data-row="">
							{selection && (
								<td className="choose">
									<Choice
										label={`Select ${selection.nameOf(row)}`}
										isChosen={selection.chosen.has(idOf(row))}
										onChange={(isChosen, isRange) => choose(index, isChosen, isRange)}
									/>
								</td>
							)}
							{columns.map(({ id, cell, isNumber, phone }, place) => (
								<td key={id} className={isNumber ? 'number' : undefined} data-phone={phone ?? 'none'}>
									{place === 0 && link ? link(row, cell(row)) : cell(row)}
								</td>
							))}
						</tr>
					)
				})}
				{below > 0 && <Gap height={below} span={span} />}
			</tbody>
		</table>
	)
}

const Gap = ({ height, span }: { height: number; span: number }) => (
	// biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it has the focus.
	<tr aria-hidden="true" className="table-gap">
		<td colSpan={span} style={{ height }} />
	</tr>
)

/** A press with Shift chooses all rows since the last press. */
function useChoose<Row>(rows: readonly Row[], idOf: (row: Row) => string, selection: Selection<Row> | undefined) {
	const last = useRef(0)
	return (index: number, isChosen: boolean, isRange: boolean) => {
		const [from, to] = isRange ? [Math.min(last.current, index), Math.max(last.current, index)] : [index, index]
		const next = new Set(selection?.chosen)
		for (const row of rows.slice(from, to + 1)) next[isChosen ? 'add' : 'delete'](idOf(row))
		last.current = index
		selection?.onChange(next)
	}
}

interface ChoiceProps {
	readonly label: string
	readonly isChosen: boolean
	readonly isMixed?: boolean
	readonly onChange: (isChosen: boolean, isRange: boolean) => void
}

/** The browser's own box: hundreds of them cost nothing. */
const Choice = ({ label, isChosen, isMixed = false, onChange }: ChoiceProps) => (
	<label>
		<input
			type="checkbox"
			aria-label={label}
			checked={isChosen}
			ref={(box) => {
				if (box) box.indeterminate = isMixed
			}}
			onChange={(event) => onChange(event.target.checked, (event.nativeEvent as MouseEvent).shiftKey)}
		/>
	</label>
)
