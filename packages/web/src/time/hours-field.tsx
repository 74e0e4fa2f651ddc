import { useState } from 'react'
import { type Control, type FieldPath, type FieldValues, useController } from 'react-hook-form'
import { parseHours, showHours } from '../format/dates.ts'
import { Field } from '../ui/field.tsx'

interface HoursFieldProps<T extends FieldValues> {
	readonly control: Control<T>
	readonly name: FieldPath<T>
	readonly hint?: string
	readonly isRequired?: boolean
}

/** A duration, in seconds, or the text while it is none. While it is typed the text stays; left, it shows the duration as it was understood. */
export function HoursField<T extends FieldValues>({ control, name, ...props }: HoursFieldProps<T>) {
	const { field, fieldState } = useController({ control, name })
	const [typed, setTyped] = useState<string>()
	const value: number | string | null = field.value
	const isWrong = typeof value === 'string'
	return (
		<Field
			{...props}
			label="Duration"
			name={name}
			ref={field.ref}
			autoComplete="off"
			placeholder="1:30"
			value={typed ?? (isWrong ? value : value === null ? '' : showHours(value))}
			error={isWrong ? 'Enter a duration such as 1:30, 1.5 or 90m' : fieldState.error?.message}
			onChange={(text) => {
				setTyped(text)
				field.onChange(text.trim() === '' ? null : (parseHours(text) ?? text))
			}}
			onBlur={() => {
				if (!isWrong) setTyped(undefined)
				field.onBlur()
			}}
		/>
	)
}
