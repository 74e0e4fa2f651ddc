import type { UseFormReturn } from 'react-hook-form'
import { useWatch } from 'react-hook-form'
import { useSession } from '../../api/session.ts'
import { localeChoices, localeExample } from '../../format/locales.ts'
import { languageName } from '../../format/names.ts'
import { FormCurrency } from '../../forms/form-currency.tsx'
import { FormField } from '../../forms/form-field.tsx'
import { FormCheck, FormMoney } from '../../forms/form-inputs.tsx'
import { FormSelect } from '../../forms/form-select.tsx'
import { OrganizationSettingsUpdate } from '../../generated/fields.ts'
import { Card } from '../../ui/card.tsx'
import { labels, numberLike, type Values } from './values.ts'
import { minutes, taxRoundings, timeRoundings } from './words.ts'

const languages = OrganizationSettingsUpdate.language.enum.map((id) => ({ id, label: languageName(id) }))
const digits = Array.from({ length: OrganizationSettingsUpdate.invoiceNumberDigits.maximum }, (_, index) => String(index + 1))

const zoneChoices = (used: string) =>
	[...new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), used])].map((id) => ({ id, label: id.replaceAll('_', ' ') }))

/** What new invoices take from the organization. */
export function InvoiceFields({ form: { control } }: { form: UseFormReturn<Values> }) {
	const { locale } = useSession()
	const of = <Name extends keyof Values>(name: Name) => ({ control, name, label: labels[name] })
	const now = useWatch({ control })
	const currency = now.defaultCurrency ?? 'EUR'
	const year = new Date().getFullYear()
	const number = numberLike(now.invoiceNumberPrefix ?? '', Number(now.invoiceNumberDigits), year)
	const writing = now.locale ?? locale
	return (
		<>
			<Card title="Numbers of invoices">
				<div className="form-grid">
					<FormField
						{...of('invoiceNumberPrefix')}
						isRequired
						autoComplete="off"
						hint={`With {year} the numbers of each year count from 1. An invoice looks like ${number}.`}
					/>
					<FormSelect {...of('invoiceNumberDigits')} choices={digits.map((id) => ({ id, label: id }))} />
					<FormCheck {...of('numberOnIssue')} hint="Until then it has a number like DRAFT-7Qm2Xc4R." />
					<FormCheck {...of('publishDrafts')} hint="Off, both wait until the invoice is sent." />
				</div>
			</Card>
			<Card title="What invoices say">
				<div className="form-grid">
					<FormSelect {...of('language')} choices={languages} hint="Unless the company or the invoice has another." />
					<FormSelect {...of('locale')} choices={localeChoices(writing)} hint={localeExample(writing, currency)} />
					<FormSelect {...of('timeZone')} choices={zoneChoices(now.timeZone ?? 'UTC')} hint="In which days begin and end." />
					<FormCurrency {...of('defaultCurrency')} hint="Of deals and invoices that name none." />
					<div className="wide">
						<FormField {...of('paymentTerms')} isLong hint="Of new invoices that name none." />
					</div>
					<div className="wide">
						<FormField {...of('footer')} isLong hint="At the foot of every invoice." />
					</div>
				</div>
			</Card>
			<Card title="Time and tax">
				<div className="form-grid">
					<FormMoney
						{...of('hourlyRateCents')}
						{...{ currency, locale }}
						hint="Of time without a rate of its own or of its deal."
					/>
					<FormSelect {...of('taxRounding')} choices={taxRoundings} />
					<FormSelect {...of('timeRounding')} choices={timeRoundings} />
					{now.timeRounding !== 'none' && (
						<FormSelect {...of('timeRoundingMinutes')} choices={minutes(now.timeRoundingMinutes ?? '15')} />
					)}
				</div>
			</Card>
		</>
	)
}
