import { ChevronDown } from 'lucide-react'
import { type Ref, useDeferredValue, useId, useMemo } from 'react'
import type { Choice } from './select.tsx'
import './field.css'
import './native-select.css'

interface NativeSelectProps {
	readonly label: string
	readonly choices: readonly Choice[]
	readonly value: string
	readonly onChange: (id: string) => void
	readonly hint?: string
	readonly error?: string | undefined
	readonly isRequired?: boolean
	/** Stands first and is no choice, while the value is empty. */
	readonly placeholder?: string
	readonly name?: string
	readonly ref?: Ref<HTMLSelectElement>
}

/** One of a few choices with the list of the browser: for forms with many of them, where a Select would weigh too much. */
export function NativeSelect({
	label,
	choices,
	value,
	onChange,
	hint,
	error,
	isRequired,
	placeholder,
	...props
}: NativeSelectProps) {
	const id = useId()
	const note = error ?? hint
	// A hundred currencies or four hundred time zones are drawn after the page, and again only when they change.
	const chosen = choices.find((choice) => choice.id === value)
	const drawn = useDeferredValue(choices, chosen ? [chosen] : [])
	const options = useMemo(
		() =>
			drawn.map(({ id: key, label: text }) => (
				<option key={key} value={key}>
					{text}
				</option>
			)),
		[drawn],
	)
	return (
		<div className="field">
			<label htmlFor={id} className={isRequired ? 'label required' : 'label'}>
				{label}
			</label>
			<span className="input-box">
				<select
					{...props}
					id={id}
					className="input native-select"
					value={value}
					required={isRequired}
					aria-invalid={error !== undefined || undefined}
					aria-describedby={note === undefined ? undefined : `${id}-note`}
					data-invalid={error !== undefined || undefined}
					onChange={(event) => onChange(event.target.value)}
				>
					{value === '' && <option value="">{placeholder ?? 'Choose…'}</option>}
					{options}
				</select>
				<ChevronDown size={16} aria-hidden="true" className="native-select-mark" />
			</span>
			{note !== undefined && (
				<span id={`${id}-note`} className={error === undefined ? 'field-note' : 'field-note field-error'}>
					{note}
				</span>
			)}
		</div>
	)
}
