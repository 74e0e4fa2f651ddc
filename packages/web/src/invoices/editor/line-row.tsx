import type { TaxRate } from '@remit/sdk'
import { X } from 'lucide-react'
import { memo, useId } from 'react'
import { type Control, type FieldPath, useController } from 'react-hook-form'
import { editDecimal, parseDecimal } from '../../format/amount.ts'
import { spellPrice } from '../../format/price.ts'
import { digitsOf } from '../../generated/currencies.ts'
import { Button } from '../../ui/button.tsx'
import { NumberCell } from './number-cell.tsx'
import { type InvoiceValues, type LineValues, ownTaxes } from './values.ts'

interface LineRowProps {
	readonly control: Control<InvoiceValues>
	readonly index: number
	readonly kind: LineValues['kind']
	readonly currency: string
	readonly locale: string
	readonly rates: readonly TaxRate[]
	/** As the server computed it; undefined before that. */
	readonly amount: string | undefined
	readonly onRemove: (index: number) => void
}

/** A line. A heading has a text alone, a discount a text and an amount. Drawn anew only when it changes itself. */
export const LineRow = memo(({ index, kind, amount, onRemove, ...props }: LineRowProps) => {
	const cell = { ...props, index }
	const isPriced = kind === 'item' || kind === 'time'
	return (
		<fieldset className={`line ${kind}`} data-line={index}>
			<legend className="hidden">{`Line ${index + 1}`}</legend>
			<Description {...cell} kind={kind} />
			{isPriced && <Decimal {...cell} name="quantity" label="Quantity" places={6} empty="1" />}
			{isPriced && <Unit {...cell} />}
			{kind !== 'text' && <Price {...cell} isDiscount={kind === 'discount'} />}
			{isPriced && <Decimal {...cell} name="discountPercent" label="Discount in percent" places={4} empty="" />}
			{kind !== 'text' && <Tax {...cell} />}
			<output className="line-amount">{kind === 'text' ? '' : (amount ?? '…')}</output>
			<Button look="quiet" isSmall icon={<X />} aria-label={`Remove line ${index + 1}`} onPress={() => onRemove(index)} />
		</fieldset>
	)
})

type CellProps = Pick<LineRowProps, 'control' | 'index' | 'currency' | 'locale' | 'rates'>

function useCell<Name extends keyof LineValues>({ control, index }: Pick<CellProps, 'control' | 'index'>, name: Name) {
	const path = `lineItems.${index}.${name}` as FieldPath<InvoiceValues>
	const { field, fieldState } = useController({ control, name: path })
	return { field: { ...field, value: field.value as LineValues[Name] }, error: fieldState.error?.message }
}

/** What tells of an error at the field itself, and the note that says it. */
function useNote(error: string | undefined) {
	const id = useId()
	const isWrong = error !== undefined
	return {
		marks: { 'aria-invalid': isWrong, 'aria-describedby': isWrong ? id : undefined, 'data-invalid': isWrong ? '' : undefined },
		note: isWrong && (
			<span id={id} className="field-note field-error">
				{error}
			</span>
		),
	}
}

function Description({ kind, ...props }: CellProps & { kind: LineValues['kind'] }) {
	const { field, error } = useCell(props, 'description')
	const { marks, note } = useNote(error)
	const label = { text: 'Heading', discount: 'Discount', item: 'Description', time: 'Description' }[kind]
	return (
		<span className="cell">
			<textarea {...field} rows={1} className="input" aria-label={label} placeholder={label} {...marks} />
			{note}
		</span>
	)
}

interface DecimalProps extends CellProps {
	readonly name: 'quantity' | 'discountPercent'
	readonly label: string
	readonly places: number
	readonly empty: string
}

function Decimal({ name, label, places, empty, locale, ...props }: DecimalProps) {
	const { field, error } = useCell(props, name)
	return (
		<NumberCell
			{...field}
			label={label}
			error={error}
			empty={empty}
			placeholder={name === 'discountPercent' ? '%' : undefined}
			parse={(text) => parseDecimal(name === 'discountPercent' ? text.replace('%', '') : text, locale, places)}
			format={(decimal) => editDecimal(decimal, locale)}
			example={editDecimal('1.5', locale)}
		/>
	)
}

function Price({ isDiscount, currency, locale, ...props }: CellProps & { isDiscount: boolean }) {
	const { field, error } = useCell(props, 'price')
	const places = digitsOf(currency)
	const parse = (text: string) => {
		const decimal = parseDecimal(text, locale, places + 6)
		if (decimal === undefined) return undefined
		const price = spellPrice(decimal, currency)
		return isDiscount && Number(price) > 0 ? `-${price}` : price
	}
	return (
		<NumberCell
			{...field}
			label={isDiscount ? 'Amount of the discount' : 'Price'}
			error={error}
			empty="0"
			parse={parse}
			format={(decimal) => editDecimal(decimal, locale, places)}
			example={editDecimal('1234.5', locale, places)}
		/>
	)
}

function Unit(props: CellProps) {
	const { field, error } = useCell(props, 'unit')
	const { marks, note } = useNote(error)
	return (
		<span className="cell">
			<input
				{...field}
				value={field.value ?? ''}
				onChange={(event) => field.onChange(event.target.value || null)}
				className="input"
				aria-label="Unit"
				placeholder="Unit"
				autoComplete="off"
				{...marks}
			/>
			{note}
		</span>
	)
}

/** The browser's own list: hundreds of them cost nothing. */
function Tax({ rates, ...props }: CellProps) {
	const { field, error } = useCell(props, 'tax')
	const { marks, note } = useNote(error)
	const own = ownTaxes(field.value)
	const isGone = !own && !['none', 'invoice'].includes(field.value) && !rates.some(({ id }) => id === field.value)
	return (
		<span className="cell">
			<select {...field} className="input" aria-label="Tax" {...marks}>
				<option value="none">No tax</option>
				{field.value === 'invoice' && <option value="invoice">As the invoice</option>}
				{own && <option value={field.value}>{own.map(({ label, percent }) => `${label} ${percent} %`).join(', ')}</option>}
				{isGone && <option value={field.value}>Archived rate</option>}
				{rates
					.filter(({ active, id }) => active || id === field.value)
					.map(({ id, name, label, percent }) => (
						<option key={id} value={id} title={name}>
							{`${label} ${percent} %`}
						</option>
					))}
			</select>
			{note}
		</span>
	)
}
