import type { StageType } from '@remit/sdk'
import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react'
import { type Control, useController } from 'react-hook-form'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Field } from '../../ui/field.tsx'
import { NativeSelect } from '../../ui/native-select.tsx'
import { inOrder, newStage, type StageRow, stageTypes, type Values } from './values.ts'
import './pipelines.css'

type RowErrors = Readonly<Record<string, { message?: string }>>

/** The stages in the order in which deals pass through them. */
export function Stages({ control }: { control: Control<Values> }) {
	const { field, fieldState } = useController({ control, name: 'stages' })
	const rows = field.value
	const errors = fieldState.error as ({ message?: string } & Record<number, RowErrors>) | undefined
	const set = (next: readonly StageRow[]) => field.onChange(inOrder(next))
	const move = (from: number, to: number) => {
		const next = [...rows]
		next.splice(to, 0, ...next.splice(from, 1))
		set(next)
	}
	return (
		<Card title="Stages">
			{errors?.message && (
				<p role="alert" className="bad-text">
					{errors.message}
				</p>
			)}
			<ol className="stage-rows">
				{rows.map((row, index) => (
					<Row
						key={row.id}
						row={row}
						number={index + 1}
						later={rows.slice(index + 1)}
						errors={errors?.[index]}
						onChange={(changed) => set(rows.map((one) => (one.id === row.id ? changed : one)))}
						onUp={index > 0 ? () => move(index, index - 1) : undefined}
						onDown={index < rows.length - 1 ? () => move(index, index + 1) : undefined}
						onRemove={rows.length > 1 ? () => set(rows.filter(({ id }) => id !== row.id)) : undefined}
					/>
				))}
			</ol>
			<div>
				<Button isSmall icon={<Plus />} onPress={() => set([...rows, newStage()])}>
					Add a stage
				</Button>
			</div>
		</Card>
	)
}

interface RowProps {
	readonly row: StageRow
	readonly number: number
	readonly later: readonly StageRow[]
	readonly errors: RowErrors | undefined
	readonly onChange: (row: StageRow) => void
	readonly onUp: (() => void) | undefined
	readonly onDown: (() => void) | undefined
	readonly onRemove: (() => void) | undefined
}

const nowhere = ''

function Row({ row, number, later, errors, onChange, onUp, onDown, onRemove }: RowProps) {
	const name = row.label || `stage ${number}`
	const nameless = (index: number) => `Stage ${number + 1 + index}`
	const targets = later.map(({ id, label }, index) => ({ id, label: label || nameless(index) }))
	return (
		<li className="stage-row" aria-label={`Stage ${number}`}>
			<Field
				label="Name"
				isRequired
				autoComplete="off"
				value={row.label}
				onChange={(label) => onChange({ ...row, label })}
				error={errors?.label?.message ?? errors?.key?.message}
			/>
			<NativeSelect
				label="Means"
				choices={stageTypes}
				value={row.type}
				onChange={(type) => onChange({ ...row, type: type as StageType })}
				error={errors?.type?.message}
			/>
			<NativeSelect
				label="When paid, go to"
				choices={[...(row.paidTo === null ? [] : [{ id: 'none', label: 'No other stage' }]), ...targets]}
				value={row.paidTo ?? nowhere}
				placeholder="No other stage"
				onChange={(id) => onChange({ ...row, paidTo: id === 'none' ? null : id })}
				error={errors?.advanceOnInvoicePaidTo?.message}
			/>
			<div className="stage-buttons">
				<Button look="quiet" aria-label={`Move up: ${name}`} icon={<ArrowUp />} isDisabled={!onUp} onPress={onUp} />
				<Button look="quiet" aria-label={`Move down: ${name}`} icon={<ArrowDown />} isDisabled={!onDown} onPress={onDown} />
				<Button look="quiet" aria-label={`Remove: ${name}`} icon={<X />} isDisabled={!onRemove} onPress={onRemove} />
			</div>
		</li>
	)
}
