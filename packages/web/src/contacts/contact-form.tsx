import type { Contact } from '@remit/sdk'
import { useSession } from '../api/session.ts'
import { FormField } from '../forms/form-field.tsx'
import { FormRecord } from '../forms/form-inputs.tsx'
import { RecordForm } from '../forms/record-form.tsx'
import type { RecordForm as Form } from '../forms/use-record-form.ts'
import type { ContactCreate } from '../generated/fields.ts'
import { Card } from '../ui/card.tsx'

export type ContactValues = Pick<Contact, keyof typeof ContactCreate>

/** What the form has of a record. */
export const valuesOf = ({ name, email, phone, companyId }: ContactValues): ContactValues => ({ name, email, phone, companyId })

interface ContactFormProps {
	readonly form: Form<ContactValues>
	readonly action: string
	readonly onSaved: () => void
	readonly onCancel: () => void
}

export function ContactForm({ form, ...props }: ContactFormProps) {
	const { locale } = useSession()
	const { control } = form.form
	return (
		<RecordForm form={form} locale={locale} {...props}>
			<Card>
				<div className="form-grid">
					<FormField control={control} name="name" label="Name" isRequired autoFocus autoComplete="off" />
					<FormRecord
						control={control}
						name="companyId"
						label="Company"
						kind="companies"
						placeholder="Who the person works for"
					/>
					<FormField control={control} name="email" label="E-mail" type="email" autoComplete="off" />
					<FormField control={control} name="phone" label="Phone" type="tel" autoComplete="off" />
				</div>
			</Card>
		</RecordForm>
	)
}
