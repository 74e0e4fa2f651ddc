// The fields of a form that are no text.
import { type Control, type FieldPath, type FieldValues, useController } from 'react-hook-form'
import { editAmount, parseAmount } from '../format/amount.ts'
import { CheckBox } from '../ui/check-box.tsx'
import { MoneyField } from '../ui/money-field.tsx'
import { type PickedKind, RecordPicker } from './record-picker.tsx'

interface Named<T extends FieldValues> {
	readonly control: Control<T>
	readonly name: FieldPath<T>
	readonly label: string
	readonly hint?: string
}

interface FormMoneyProps<T extends FieldValues> extends Named<T> {
	readonly currency: string
	readonly locale: string
}

export function FormMoney<T extends FieldValues>({ control, name, currency, locale, ...props }: FormMoneyProps<T>) {
	const { field, fieldState } = useController({ control, name })
	return (
		<MoneyField
			{...props}
			name={name}
			ref={field.ref}
			value={field.value}
			onChange={field.onChange}
			onBlur={field.onBlur}
			currency={currency}
			parse={(text) => parseAmount(text, currency, locale)}
			format={(amount) => editAmount(amount, currency, locale)}
			error={fieldState.error?.message}
		/>
	)
}

interface FormRecordProps<T extends FieldValues> extends Named<T> {
	readonly kind: PickedKind
	readonly filter?: Readonly<Record<string, string>>
	readonly isRequired?: boolean
	readonly placeholder?: string
}

export function FormRecord<T extends FieldValues>({ control, name, ...props }: FormRecordProps<T>) {
	const { field, fieldState } = useController({ control, name })
	return <RecordPicker {...props} value={field.value} onChange={field.onChange} error={fieldState.error?.message} />
}

export function FormCheck<T extends FieldValues>({ control, name, label, hint }: Named<T>) {
	const { field } = useController({ control, name })
	return (
		<div className="wide">
			<CheckBox isSelected={field.value} onChange={field.onChange} onBlur={field.onBlur} name={name}>
				{label}
			</CheckBox>
			{hint && <p className="field-note">{hint}</p>}
		</div>
	)
}
