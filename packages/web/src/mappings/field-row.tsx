import type { FieldTransform, TransformName } from '@remit/sdk'
import { X } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { NativeSelect } from '../ui/native-select.tsx'
import type { Row } from './editor.tsx'
import { ParameterField } from './parameters.tsx'
import { showTransform, transforms } from './transforms.ts'
import { showOrigin } from './words.ts'

/** What is wrong at a place of a field, such as `source` or `transforms.0.format`. */
type ErrorOf = (place: string) => string | undefined

interface FieldRowProps {
	readonly row: Row
	readonly number: number
	readonly errorOf: ErrorOf
	readonly onChange: (row: Row) => void
	readonly onRemove: () => void
}

/** Source left, target right, what is done with the value between. */
export function FieldRow({ row, number, errorOf, onChange, onRemove }: FieldRowProps) {
	const chosen = row.transforms ?? []
	const isPath = row.source !== undefined
	const set = (changed: FieldTransform[]) => onChange({ ...row, transforms: changed })
	return (
		<li className="mapping-row" aria-label={`Field ${number}`}>
			{isPath ? (
				<Field
					label="Source"
					isRequired
					value={row.source ?? ''}
					onChange={(source) => onChange({ ...row, source })}
					error={errorOf('source')}
				/>
			) : (
				<div className="field">
					<span className="label">Source</span>
					<span className="mapping-fixed">{showOrigin(row)}</span>
				</div>
			)}
			<div className="mapping-between">
				<NativeSelect
					label="Transform"
					value=""
					placeholder={chosen.length > 0 ? 'Then…' : 'As it is'}
					choices={Object.entries(transforms).map(([id, { label }]) => ({ id, label }))}
					error={errorOf('transforms')}
					onChange={(name) => set([...chosen, { name: name as TransformName }])}
				/>
				{chosen.length > 0 && (
					<ol className="mapping-steps">
						{chosen.map((transform, index) => (
							<Step
								// biome-ignore lint/suspicious/noArrayIndexKey: one may stand there twice; after one is removed the others begin anew.
								key={`${chosen.length} ${index}`}
								transform={transform}
								errorOf={(place) => errorOf(place === '' ? `transforms.${index}` : `transforms.${index}.${place}`)}
								onChange={(changed) => set(chosen.map((one, at) => (at === index ? changed : one)))}
								onRemove={() => set(chosen.filter((_, at) => at !== index))}
							/>
						))}
					</ol>
				)}
			</div>
			<Field
				label="Target"
				isRequired
				value={row.target}
				onChange={(target) => onChange({ ...row, target })}
				error={errorOf('target')}
				hint={row.required ? 'A record without it fails.' : undefined}
			/>
			<Button look="quiet" aria-label={`Remove field ${number}`} icon={<X />} onPress={onRemove} />
		</li>
	)
}

interface StepProps {
	readonly transform: FieldTransform
	readonly errorOf: ErrorOf
	readonly onChange: (transform: FieldTransform) => void
	readonly onRemove: () => void
}

/** A transform, with a field for each of its parameters. */
function Step({ transform, errorOf, onChange, onRemove }: StepProps) {
	const known = transforms[transform.name]
	const label = known?.label ?? showTransform(transform)
	const wrong = errorOf('') ?? errorOf('name')
	return (
		<li className="mapping-step">
			<span className="chip">
				{label}
				<button type="button" aria-label={`Remove ${label}`} onClick={onRemove}>
					<X size={14} aria-hidden="true" />
				</button>
			</span>
			{known?.parameters.map((name) => (
				<ParameterField key={name} name={name} transform={transform} onChange={onChange} errorOf={errorOf} />
			))}
			{wrong && <p className="field-note field-error">{wrong}</p>}
		</li>
	)
}
