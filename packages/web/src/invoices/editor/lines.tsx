import type { InvoicePreview, TaxRate } from '@remit/sdk'
import { Heading, Minus, Plus } from 'lucide-react'
import { type ClipboardEvent, type KeyboardEvent, useCallback, useEffect, useRef } from 'react'
import { type UseFormReturn, useFieldArray } from 'react-hook-form'
import { showAmount } from '../../format/amount.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { toast } from '../../ui/toast.ts'
import { LineRow } from './line-row.tsx'
import { linesOf } from './paste.ts'
import { blankLine, type InvoiceValues, isBlank, type LineValues, usualTax } from './values.ts'
import './lines.css'

interface LinesProps {
	readonly form: UseFormReturn<InvoiceValues>
	readonly currency: string
	readonly locale: string
	readonly rates: readonly TaxRate[]
	readonly preview: InvoicePreview | undefined
}

/**
 * The lines, for hands on the keyboard: Enter goes to the next field and from the last one to a new line, Alt with an arrow moves a line,
 * and rows of a spreadsheet can be pasted.
 */
export function Lines({ form, currency, locale, rates, preview }: LinesProps) {
	const { control, getValues } = form
	const { fields, append, insert, remove, move, update } = useFieldArray({ control, name: 'lineItems', keyName: 'key' })
	const list = useRef<HTMLDivElement>(null)
	const focus = useFocus(list, fields.length)
	const taxOfNew = () => getValues('lineItems').findLast(({ kind }) => kind !== 'text')?.tax ?? usualTax(rates)
	const add = (kind: LineValues['kind'] = 'item') => {
		append(blankLine(kind === 'text' ? 'none' : taxOfNew(), kind), { shouldFocus: false })
		focus(fields.length, 0)
	}
	const onRemove = useCallback(
		(index: number) => {
			remove(index)
			focus(Math.max(0, index - 1), 0, true)
		},
		[remove, focus],
	)
	const press = (event: KeyboardEvent<HTMLDivElement>) => {
		const [line, place] = placeOf(event.target)
		if (line === undefined || place < 0) return
		if (event.key === 'Enter' && !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.nativeEvent.isComposing) {
			event.preventDefault()
			const cells = cellsIn(list.current, line)
			if (place < cells.length - 1) focus(line, place + 1)
			else if (line < fields.length - 1) focus(line + 1, 0)
			else add()
		} else if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
			event.preventDefault()
			const to = line + (event.key === 'ArrowUp' ? -1 : 1)
			if (to < 0 || to >= fields.length) return
			move(line, to)
			focus(to, place, true)
		}
	}
	const paste = (event: ClipboardEvent<HTMLDivElement>) => {
		const [line] = placeOf(event.target)
		const lines = linesOf(event.clipboardData.getData('text/plain'), locale, currency, taxOfNew())
		if (line === undefined || !lines || lines.length === 0) return
		event.preventDefault()
		const [first, ...rest] = lines
		if (isBlank(getValues(`lineItems.${line}`) as LineValues)) {
			update(line, first as LineValues)
			insert(line + 1, rest, { shouldFocus: false })
		} else insert(line + 1, lines, { shouldFocus: false })
		toast(lines.length === 1 ? 'One line was pasted' : `${lines.length} lines were pasted`)
	}
	return (
		<Card title="Lines">
			{/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the fields in it. */}
			<div className="lines" ref={list} onKeyDown={press} onPaste={paste}>
				<div className="line line-head" aria-hidden="true">
					<span>Description</span>
					<span className="number">Quantity</span>
					<span>Unit</span>
					<span className="number">Price</span>
					<span className="number">Disc. %</span>
					<span>Tax</span>
					<span className="number">Amount</span>
					<span />
				</div>
				{fields.map(({ key, kind }, index) => (
					<LineRow
						key={key}
						control={control}
						index={index}
						kind={kind}
						currency={currency}
						locale={locale}
						rates={rates}
						amount={amountOf(preview, index, locale)}
						onRemove={onRemove}
					/>
				))}
			</div>
			<div className="lines-add">
				<Button icon={<Plus />} onPress={() => add()}>
					Add line
				</Button>
				<Button look="quiet" icon={<Minus />} onPress={() => add('discount')}>
					Add discount
				</Button>
				<Button look="quiet" icon={<Heading />} onPress={() => add('text')}>
					Add heading
				</Button>
				<span className="lines-hint">Enter: next field · Alt ↑ ↓: move · paste rows of a spreadsheet</span>
			</div>
		</Card>
	)
}

const amountOf = (preview: InvoicePreview | undefined, index: number, locale: string): string | undefined => {
	const line = preview?.lineItems[index]
	return preview && line && showAmount(line.amountCents, preview.currency, locale)
}

const cellsIn = (list: HTMLElement | null, line: number): HTMLElement[] => [
	...(list?.querySelectorAll<HTMLElement>(`[data-line="${line}"] .input`) ?? []),
]

/** The line and the field in it that an event comes from. */
function placeOf(target: EventTarget): [line: number | undefined, place: number] {
	const row = (target as HTMLElement).closest<HTMLElement>('[data-line]')
	if (!row) return [undefined, -1]
	return [Number(row.dataset.line), [...row.querySelectorAll('.input')].indexOf(target as HTMLElement)]
}

/** Focuses a field once it is drawn. */
function useFocus(list: { current: HTMLElement | null }, length: number) {
	const wanted = useRef<readonly [line: number, place: number]>(undefined)
	const take = useCallback(() => {
		if (!wanted.current) return
		const [line, place] = wanted.current
		const cells = cellsIn(list.current, line)
		const cell = cells[Math.min(place, cells.length - 1)]
		if (!cell) return
		wanted.current = undefined
		cell.focus()
		if (cell instanceof HTMLInputElement) cell.select()
	}, [list])
	// biome-ignore lint/correctness/useExhaustiveDependencies: a new line is there once the length has changed.
	useEffect(take, [length, take])
	return useCallback(
		(line: number, place: number, isLater = false) => {
			wanted.current = [line, place]
			// At once, since the next key may be on its way; later where rows change places.
			if (isLater) requestAnimationFrame(take)
			else take()
		},
		[take],
	)
}
