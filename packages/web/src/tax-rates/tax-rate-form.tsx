import type { TaxRate } from '@remit/sdk'
import { useState } from 'react'
import { useController } from 'react-hook-form'
import { useSession } from '../api/session.ts'
import { editDecimal, parseDecimal } from '../format/amount.ts'
import { FormField } from '../forms/form-field.tsx'
import { FormCheck } from '../forms/form-inputs.tsx'
import { RecordForm } from '../forms/record-form.tsx'
import type { RecordForm as Form } from '../forms/use-record-form.ts'
import { Card } from '../ui/card.tsx'
import { Field } from '../ui/field.tsx'

export interface TaxRateValues extends Pick<TaxRate, 'name' | 'inclusive' | 'isDefault'> {
	/** Null: as the name. */
	readonly label: string | null
	/** Decimal text; null while there is none. */
	readonly percent: string | null
}

export const valuesOf = ({ name, label, percent, inclusive, isDefault }: TaxRate): TaxRateValues => ({
	name,
	label,
	percent,
	inclusive,
	isDefault,
})

interface TaxRateFormProps {
	readonly form: Form<TaxRateValues>
	readonly action: string
	/** Whether it is archived, and cannot be the default. */
	readonly isArchived?: boolean
	readonly onSaved: () => void
	readonly onCancel: () => void
}

export function TaxRateForm({ form, isArchived = false, ...props }: TaxRateFormProps) {
	const { locale } = useSession()
	const { control } = form.form
	return (
		<RecordForm form={form} locale={locale} need="manager" {...props}>
			<Card>
				<div className="form-grid">
					<FormField
						control={control}
						name="name"
						label="Name"
						isRequired
						autoFocus
						autoComplete="off"
						hint="In lists, such as Germany, standard."
					/>
					<FormField
						control={control}
						name="label"
						label="Name on invoices"
						autoComplete="off"
						hint="Such as VAT. Empty: the name."
					/>
					<PercentField form={form} />
					<FormCheck
						control={control}
						name="inclusive"
						label="Prices include this tax"
						hint="The tax is taken out of the price instead of added to it."
					/>
					{!isArchived && (
						<FormCheck
							control={control}
							name="isDefault"
							label="Offer it first"
							hint="Of all rates one at most is offered first."
						/>
					)}
				</div>
			</Card>
		</RecordForm>
	)
}

/** While it is typed the text stays; left, it shows the percentage as it was understood. */
function PercentField({ form }: { form: Form<TaxRateValues> }) {
	const { locale } = useSession()
	const { field, fieldState } = useController({ control: form.form.control, name: 'percent' })
	const [typed, setTyped] = useState<string>()
	const parse = (text: string) => parseDecimal(text.replace('%', ''), locale, 4)
	const isWrong = typed !== undefined && typed.trim() !== '' && parse(typed) === undefined
	return (
		<Field
			label="Percent"
			name="percent"
			isRequired
			ref={field.ref}
			inputMode="decimal"
			autoComplete="off"
			suffix="%"
			value={typed ?? (field.value === null ? '' : editDecimal(field.value, locale))}
			error={isWrong ? `Enter a percentage such as ${editDecimal('19.5', locale)}` : fieldState.error?.message}
			onChange={(text) => {
				setTyped(text)
				field.onChange(parse(text) ?? null)
			}}
			onBlur={() => {
				if (!isWrong) setTyped(undefined)
				field.onBlur()
			}}
		/>
	)
}
