import { useMemo } from 'react'
import type { Control, FieldPath, FieldValues } from 'react-hook-form'
import { useWatch } from 'react-hook-form'
import { FormSelect } from './form-select.tsx'

const names = new Intl.DisplayNames('en', { type: 'currency' })
const choiceOf = (code: string) => ({ id: code, label: `${code} – ${names.of(code)}` })
/** Currencies to pay in: neither metals nor units of account. */
const all = Intl.supportedValuesOf('currency')
	.filter((code) => !/^X(?!AF|CD|CG|OF|PF)/.test(code))
	.map(choiceOf)

interface FormCurrencyProps<T extends FieldValues> {
	readonly control: Control<T>
	readonly name: FieldPath<T>
	readonly label: string
	readonly hint?: string
}

/** What a currency says about itself, such as `EUR – Euro`; the browser finds it by its letters. */
export function FormCurrency<T extends FieldValues>({ control, name, ...props }: FormCurrencyProps<T>) {
	const used: string = useWatch({ control, name })
	const choices = useMemo(() => (all.some(({ id }) => id === used) ? all : [choiceOf(used), ...all]), [used])
	return <FormSelect control={control} name={name} choices={choices} {...props} />
}
