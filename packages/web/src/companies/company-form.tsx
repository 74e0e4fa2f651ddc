import type { Company, Language } from '@remit/sdk'
import { useController } from 'react-hook-form'
import { useSession } from '../api/session.ts'
import { languageName } from '../format/names.ts'
import { FormField } from '../forms/form-field.tsx'
import { RecordForm } from '../forms/record-form.tsx'
import type { RecordForm as Form } from '../forms/use-record-form.ts'
import { CompanyCreate } from '../generated/fields.ts'
import { Card } from '../ui/card.tsx'
import { NativeSelect } from '../ui/native-select.tsx'

const names = Object.keys(CompanyCreate) as (keyof typeof CompanyCreate)[]

export type CompanyValues = Pick<Company, keyof typeof CompanyCreate>

export const blankCompany = Object.fromEntries(
	names.map((name) => [name, name === 'name' ? '' : null]),
) as unknown as CompanyValues

/** What the form has of a record. */
export const valuesOf = (company: Company) =>
	Object.fromEntries(names.map((name) => [name, company[name]])) as unknown as CompanyValues

interface CompanyFormProps {
	readonly form: Form<CompanyValues>
	readonly action: string
	readonly onSaved: () => void
	readonly onCancel: () => void
}

export function CompanyForm({ form, ...props }: CompanyFormProps) {
	const { locale } = useSession()
	const { control } = form.form
	return (
		<RecordForm form={form} locale={locale} {...props}>
			<Card title="Company">
				<div className="form-grid">
					<FormField control={control} name="name" label="Name" isRequired autoFocus autoComplete="off" />
					<FormField control={control} name="domain" label="Website" placeholder="acme.example" />
					<FormField control={control} name="phone" label="Phone" type="tel" />
					<FormField control={control} name="vatId" label="VAT ID" />
					<FormField control={control} name="taxId" label="Tax number" />
				</div>
			</Card>
			<Card title="Billing">
				<div className="form-grid">
					<FormField
						control={control}
						name="billingEmail"
						label="E-mail for invoices"
						type="email"
						hint="Invoices are sent here."
					/>
					<FormField control={control} name="billingContactName" label="Contact person" />
					<FormField control={control} name="billingAddressLine1" label="Address" />
					<FormField control={control} name="billingAddressLine2" label="Address, second line" />
					<FormField control={control} name="billingPostalCode" label="Postal code" />
					<FormField control={control} name="billingCity" label="City" />
					<FormField control={control} name="billingState" label="State" />
					<FormField control={control} name="billingCountry" label="Country" />
					<LanguageField form={form} />
				</div>
			</Card>
			<Card title="Notes">
				<FormField control={control} name="notes" label="Notes" hint="Only people of your organization see them." isLong />
			</Card>
		</RecordForm>
	)
}

const unset = 'default'

function LanguageField({ form }: { form: Form<CompanyValues> }) {
	const { field, fieldState } = useController({ control: form.form.control, name: 'language' })
	const choices = CompanyCreate.language.enum.map((id) => ({ id: id as string, label: languageName(id) }))
	return (
		<NativeSelect
			label="Language of invoices"
			choices={[{ id: unset, label: 'As the organization' }, ...choices]}
			value={field.value ?? unset}
			onChange={(id) => field.onChange(id === unset ? null : (id as Language))}
			error={fieldState.error?.message}
		/>
	)
}
