import type { OrganizationSettings } from '@remit/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useWatch } from 'react-hook-form'
import { call, read, useWrite } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { FormField } from '../../forms/form-field.tsx'
import { RecordForm } from '../../forms/record-form.tsx'
import { useRecordForm } from '../../forms/use-record-form.ts'
import { Card } from '../../ui/card.tsx'
import { toast } from '../../ui/toast.ts'
import { AccentField } from './accent-field.tsx'
import { InvoiceFields } from './invoice-fields.tsx'
import { Logo } from './logo.tsx'
import { bankLabels, bodyOf, labels, nameOf, rules, type Values, valuesOf } from './values.ts'

export function OrganizationForm({ organization: loaded }: { organization: OrganizationSettings }) {
	// What the form began with: news from the server comes in by a merge alone.
	const [organization] = useState(loaded)
	const { personId, locale } = useSession()
	const { history } = useRouter()
	const client = useQueryClient()
	const { mutateAsync } = useWrite('organization.update')
	const form = useRecordForm<Values>({
		values: valuesOf(organization),
		version: organization.version,
		draftKey: [personId, 'organization', organization.id],
		rules,
		nameOf,
		save: async (changed, version) => {
			if (Object.keys(changed).length > 0) await mutateAsync([bodyOf(changed, form.form.getValues()), { ifMatch: version }])
		},
		reload: async () => {
			const now = await call('organization.get')
			client.setQueryData(read('organization.get').queryKey, now)
			return { values: valuesOf(now), version: now.version }
		},
		staysOpen: true,
	})
	const { control } = form.form
	const [country, accountNumber] = useWatch({ control, name: ['country', 'accountNumber'] })
	const bank = bankLabels({ country, accountNumber })
	const of = <Name extends keyof Values>(name: Name) => ({ control, name, label: labels[name] })
	return (
		<RecordForm
			form={form}
			locale={locale}
			action="Save"
			onSaved={() => toast('The organization was saved')}
			onCancel={() => history.back()}
			conflictWords={({ name, mine, theirs }) => ({
				label: labels[name as keyof Values],
				mine: String(mine ?? ''),
				theirs: String(theirs ?? ''),
			})}
		>
			<Card title="Details and address">
				<p className="field-note">Invoices show them as those of the seller.</p>
				<div className="form-grid">
					<FormField {...of('name')} isRequired autoComplete="organization" />
					<FormField {...of('contactName')} autoComplete="off" />
					<FormField {...of('email')} type="email" autoComplete="off" hint="It receives replies to invoices." />
					<FormField {...of('phone')} type="tel" autoComplete="off" />
					<FormField {...of('addressLine1')} autoComplete="address-line1" />
					<FormField {...of('addressLine2')} autoComplete="address-line2" />
					<FormField {...of('postalCode')} autoComplete="postal-code" />
					<FormField {...of('city')} autoComplete="address-level2" />
					<FormField {...of('state')} autoComplete="address-level1" />
					<FormField {...of('country')} autoComplete="country-name" />
				</div>
			</Card>
			<Card title="Tax numbers and register">
				<div className="form-grid">
					<FormField {...of('vatId')} autoComplete="off" hint="With its country, such as DE136695976." />
					<FormField {...of('taxId')} autoComplete="off" />
					<FormField {...of('registration')} autoComplete="off" hint="Such as HRB 123456, Amtsgericht Berlin." />
				</div>
			</Card>
			<Card title="Bank account">
				<p className="field-note">An invoice shows it until it is paid.</p>
				<div className="form-grid">
					<FormField {...of('iban')} autoComplete="off" />
					<FormField {...of('bic')} autoComplete="off" />
					<FormField {...of('bankName')} autoComplete="off" />
					<FormField {...of('holder')} autoComplete="off" hint="When it is not the organization." />
					<FormField {...of('accountNumber')} label={bank.accountNumber} autoComplete="off" hint="Where there is no IBAN." />
					<FormField {...of('routingNumber')} label={bank.routingNumber} autoComplete="off" hint="Where there is no IBAN." />
				</div>
			</Card>
			<Card title="Look">
				<Logo onChanged={form.follow} />
				<AccentField control={control} />
			</Card>
			<InvoiceFields form={form.form} />
			<Card title="Connections">
				<FormField
					{...of('connectReturnOrigins')}
					isLong
					hint="The addresses of your own applications, one on each line, such as https://app.example.com. Whoever has connected an account by a link may go on there."
				/>
			</Card>
		</RecordForm>
	)
}
