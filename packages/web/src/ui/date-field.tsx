import { Input } from 'react-aria-components/Input'
import { Button } from './button.tsx'
import { Field, type FieldProps } from './field.tsx'
import './date-field.css'

interface DateFieldProps extends Omit<FieldProps, 'value' | 'onChange' | 'children' | 'type'> {
	/** `YYYY-MM-DD`, or '' for none. */
	readonly value: string
	readonly onChange: (value: string) => void
	readonly min?: string
	readonly max?: string
	/** Days to take with one press, such as in 14 days. */
	readonly choices?: readonly { readonly label: string; readonly value: string }[]
}

/** A day, with the picker of the browser. */
export function DateField({ value, onChange, min, max, choices = [], ref, ...props }: DateFieldProps) {
	return (
		<div className="date-field">
			<Field {...props} value={value} onChange={onChange}>
				<Input ref={ref} type="date" min={min} max={max} className="input" />
			</Field>
			{choices.length > 0 && (
				<div className="date-choices">
					{choices.map((choice) => (
						<Button
							key={choice.label}
							isSmall
							look="quiet"
							aria-label={`${props.label}: ${choice.label}`}
							onPress={() => onChange(choice.value)}
						>
							{choice.label}
						</Button>
					))}
				</div>
			)}
		</div>
	)
}
