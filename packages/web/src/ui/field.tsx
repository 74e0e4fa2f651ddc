import type { ReactNode, RefCallback } from 'react'
import { FieldError } from 'react-aria-components/FieldError'
import { Input } from 'react-aria-components/Input'
import { Label } from 'react-aria-components/Label'
import { Text } from 'react-aria-components/Text'
import { TextField, type TextFieldProps } from 'react-aria-components/TextField'
import './field.css'

export interface FieldProps extends Omit<TextFieldProps, 'children' | 'className' | 'style'> {
	readonly label: string
	/** What to enter, or what it is for. */
	readonly hint?: ReactNode
	/** What is wrong with the value. */
	readonly error?: string | undefined
	readonly placeholder?: string
	readonly ref?: RefCallback<HTMLElement>
	/** Stands in the field, behind the value, such as a currency. */
	readonly suffix?: ReactNode
	readonly children?: ReactNode
}

/** One line of text with its label. `children` stands in place of the input. */
export function Field({ label, hint, error, placeholder, ref, suffix, children, ...props }: FieldProps) {
	return (
		<TextField {...props} isInvalid={error !== undefined} validationBehavior="aria" className="field">
			<FieldLabel label={label} isOptional={!props.isRequired} />
			{children ?? (
				<span className="input-box">
					<Input ref={ref} placeholder={placeholder} className="input" />
					{suffix && <span className="input-suffix">{suffix}</span>}
				</span>
			)}
			<FieldNotes hint={hint} error={error} />
		</TextField>
	)
}

export const FieldLabel = ({ label, isOptional }: { label: string; isOptional: boolean }) => (
	<Label className={isOptional ? 'label' : 'label required'}>{label}</Label>
)

/** The error takes the place of the hint. */
export const FieldNotes = ({ hint, error }: Pick<FieldProps, 'hint' | 'error'>) => (
	<>
		{hint && error === undefined && (
			<Text slot="description" className="field-note">
				{hint}
			</Text>
		)}
		<FieldError className="field-note field-error">{error}</FieldError>
	</>
)
