import { type Control, type FieldPath, type FieldValues, useController } from 'react-hook-form'
import { NativeSelect } from '../ui/native-select.tsx'
import type { Choice } from '../ui/select.tsx'

interface FormSelectProps<T extends FieldValues> {
	readonly control: Control<T>
	readonly name: FieldPath<T>
	readonly label: string
	readonly choices: readonly Choice[]
	readonly hint?: string
	readonly isRequired?: boolean
	readonly placeholder?: string
	/** In place of taking the choice over. */
	readonly onChoose?: (id: string) => void
}

/** A choice of a form, whose ids are the values of the contract. */
export function FormSelect<T extends FieldValues>({ control, name, onChoose, ...props }: FormSelectProps<T>) {
	const { field, fieldState } = useController({ control, name })
	return (
		<NativeSelect
			{...props}
			name={name}
			ref={field.ref}
			value={field.value ?? ''}
			onChange={onChoose ?? field.onChange}
			error={fieldState.error?.message}
		/>
	)
}
