import { type Control, useController } from 'react-hook-form'
import { Button } from '../../ui/button.tsx'
import { labels, type Values } from './values.ts'
import '../../ui/field.css'
import './look.css'

/** What the picker of the browser begins with. */
const remits = '#2d46c4'

export function AccentField({ control }: { control: Control<Values> }) {
	const { field, fieldState } = useController({ control, name: 'accentColor' })
	const error = fieldState.error?.message
	return (
		<div className="field">
			<label className="label" htmlFor="accent-color">
				{labels.accentColor}
			</label>
			<div className="look">
				<input
					id="accent-color"
					type="color"
					className="input look-color"
					ref={field.ref}
					value={field.value ?? remits}
					aria-describedby="accent-color-note"
					aria-invalid={error !== undefined || undefined}
					data-invalid={error === undefined ? undefined : ''}
					onChange={(event) => field.onChange(event.target.value)}
				/>
				<span>{field.value ?? 'As Remit’s'}</span>
				{field.value !== null && (
					<Button isSmall onPress={() => field.onChange(null)}>
						As Remit’s
					</Button>
				)}
			</div>
			<span id="accent-color-note" className={error === undefined ? 'field-note' : 'field-note field-error'}>
				{error ?? 'Of lines and buttons of invoices: dark enough to read on white.'}
			</span>
		</div>
	)
}
