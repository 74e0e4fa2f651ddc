import { type Control, type FieldPath, type FieldValues, useController } from 'react-hook-form'
import { Field, type FieldProps } from '../ui/field.tsx'
import { TextArea } from '../ui/text-area.tsx'

interface FormFieldProps<T extends FieldValues> extends Omit<FieldProps, 'value' | 'onChange' | 'name' | 'error'> {
	readonly control: Control<T>
	readonly name: FieldPath<T>
	readonly isLong?: boolean
}

/** A field of a form. Empty text is null, as the contract has it. */
export function FormField<T extends FieldValues>({ control, name, isLong, ...props }: FormFieldProps<T>) {
	const { field, fieldState } = useController({ control, name })
	const Shown = isLong ? TextArea : Field
	return (
		<Shown
			{...props}
			name={name}
			ref={field.ref}
			value={field.value ?? ''}
			onChange={(text) => field.onChange(text === '' && !props.isRequired ? null : text)}
			onBlur={field.onBlur}
			error={fieldState.error?.message}
		/>
	)
}
