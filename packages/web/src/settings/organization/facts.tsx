import type { OrganizationSettings } from '@remit/sdk'
import type { ReactNode } from 'react'
import { useSession } from '../../api/session.ts'
import { showAmount } from '../../format/amount.ts'
import { languageName } from '../../format/names.ts'
import { Card, Facts } from '../../ui/card.tsx'
import { bankLabels, labels, numberLike, type Values, valuesOf } from './values.ts'
import { minutes, taxRoundings, timeRoundings } from './words.ts'

type Name = keyof Values

const sections: readonly (readonly [title: string, names: readonly Name[]])[] = [
	[
		'Details and address',
		['name', 'contactName', 'email', 'phone', 'addressLine1', 'addressLine2', 'postalCode', 'city', 'state', 'country'],
	],
	['Tax numbers and register', ['vatId', 'taxId', 'registration']],
	['Bank account', ['iban', 'bic', 'bankName', 'holder', 'accountNumber', 'routingNumber']],
	['Invoices', ['invoiceNumberPrefix', 'language', 'locale', 'timeZone', 'defaultCurrency', 'paymentTerms', 'footer']],
	['Time and tax', ['hourlyRateCents', 'taxRounding', 'timeRounding']],
]

/** For whoever reads it and does not write it. */
export function OrganizationFacts({ organization }: { organization: OrganizationSettings }) {
	const { locale } = useSession()
	const values = valuesOf(organization)
	const { invoiceNumberPrefix, invoiceNumberDigits, defaultCurrency, hourlyRateCents, timeRoundingMinutes } = organization
	const step = minutes(String(timeRoundingMinutes)).find(({ id }) => id === String(timeRoundingMinutes))?.label
	const inWords: Partial<Record<Name, ReactNode>> = {
		invoiceNumberPrefix: `${invoiceNumberPrefix}, such as ${numberLike(invoiceNumberPrefix, invoiceNumberDigits, new Date().getFullYear())}`,
		language: languageName(values.language),
		locale: languageName(values.locale),
		hourlyRateCents: hourlyRateCents === null ? null : showAmount(hourlyRateCents, defaultCurrency, locale),
		taxRounding: taxRoundings.find(({ id }) => id === values.taxRounding)?.label,
		timeRounding: `${timeRoundings.find(({ id }) => id === values.timeRounding)?.label}${values.timeRounding === 'none' ? '' : `, ${step}`}`,
	}
	return (
		<div className="stack">
			<p className="quiet-text">An admin changes these.</p>
			{sections.map(([title, names]) => (
				<Card key={title} title={title}>
					{names.every((name) => !values[name]) && <p className="quiet-text">Nothing is entered yet.</p>}
					<Facts
						facts={names.map((name) => [
							{ ...labels, ...bankLabels(values) }[name],
							inWords[name] ?? (values[name] as ReactNode),
						])}
					/>
				</Card>
			))}
		</div>
	)
}
