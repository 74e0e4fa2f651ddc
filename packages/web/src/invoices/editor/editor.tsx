import type { TaxRate } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import { memo } from 'react'
import { type Control, type UseFormSetFocus, useController, useWatch } from 'react-hook-form'
import { taxRatesQuery } from '../../api/first-reads.ts'
import { useSession } from '../../api/session.ts'
import { addDays, dayIn, showDay } from '../../format/dates.ts'
import { FormCurrency } from '../../forms/form-currency.tsx'
import { FormField } from '../../forms/form-field.tsx'
import { RecordForm } from '../../forms/record-form.tsx'
import type { RecordForm as Form } from '../../forms/use-record-form.ts'
import { Card } from '../../ui/card.tsx'
import { DateField } from '../../ui/date-field.tsx'
import { ClientField } from './client-field.tsx'
import { conflictWords } from './conflict-words.ts'
import { Lines } from './lines.tsx'
import { Totals } from './totals.tsx'
import { usePreview } from './use-preview.ts'
import type { InvoiceValues } from './values.ts'

const none: readonly TaxRate[] = []

interface EditorProps {
	readonly form: Form<InvoiceValues>
	readonly action: string
	readonly onSaved: () => void
	readonly onSavedToSend: (() => void) | undefined
	readonly onCancel: () => void
	/** The tax that the invoice has for lines without one. */
	readonly own?: { readonly taxRate: number; readonly taxLabel: string }
}

export function Editor({ form, action, onSaved, onSavedToSend, onCancel, own = { taxRate: 0, taxLabel: 'Tax' } }: EditorProps) {
	const { locale, timeZone } = useSession()
	const { control } = form.form
	const values = useWatch({ control }) as InvoiceValues
	const preview = usePreview(values, own)
	const { data: rates } = useQuery({ ...taxRatesQuery, staleTime: 60_000 })
	const today = dayIn(timeZone, Date.now())
	return (
		<div className="editor">
			<RecordForm
				form={form}
				locale={locale}
				action={action}
				onSaved={onSaved}
				onCancel={onCancel}
				second={onSavedToSend && { action: 'Save and send', onSaved: onSavedToSend }}
				conflictWords={(conflict) => conflictWords(conflict, values, rates?.data ?? none, (day) => showDay(day, locale))}
			>
				<Head control={control} setFocus={form.form.setFocus} today={today} from={values.issuedDate ?? today} />
				<Lines form={form.form} currency={values.currency} locale={locale} rates={rates?.data ?? none} preview={preview.data} />
				<div className="editor-foot">
					<Words control={control} />
					<Totals preview={preview} locale={locale} />
				</div>
			</RecordForm>
		</div>
	)
}

interface HeadProps {
	readonly control: Control<InvoiceValues>
	readonly setFocus: UseFormSetFocus<InvoiceValues>
	readonly today: string
	readonly from: string
}

/** Drawn anew neither for a key in the lines nor for the answers about them. */
const Head = memo(({ control, setFocus, today, from }: HeadProps) => (
	<Card>
		<div className="form-grid">
			<ClientField control={control} setFocus={setFocus} />
			<FormField control={control} name="invoiceNumber" label="Number" placeholder="Given when it is saved" autoComplete="off" />
			<FormCurrency control={control} name="currency" label="Currency" />
			<Day
				control={control}
				name="issuedDate"
				label="Date of issue"
				hint="The day it is sent, when empty."
				choices={[['Today', today]]}
			/>
			<Day
				control={control}
				name="dueDate"
				label="Due"
				choices={[14, 30, 60].map((days) => [`${days} days`, addDays(from, days)])}
			/>
		</div>
	</Card>
))

/** As Head. */
const Words = memo(({ control }: { control: Control<InvoiceValues> }) => (
	<Card>
		<FormField control={control} name="notes" label="Notes" hint="The client sees them on the invoice." isLong />
		<FormField
			control={control}
			name="paymentTerms"
			label="Payment terms"
			placeholder="As in the settings of your organization"
			isLong
		/>
	</Card>
))

interface DayProps {
	readonly control: Control<InvoiceValues>
	readonly name: 'issuedDate' | 'dueDate'
	readonly label: string
	readonly hint?: string
	readonly choices: readonly (readonly [label: string, day: string])[]
}

function Day({ control, name, label, hint, choices }: DayProps) {
	const { field, fieldState } = useController({ control, name })
	return (
		<DateField
			label={label}
			hint={hint}
			name={name}
			ref={field.ref}
			value={field.value ?? ''}
			onChange={(day) => field.onChange(day || null)}
			onBlur={field.onBlur}
			error={fieldState.error?.message}
			choices={choices.map(([text, value]) => ({ label: text, value }))}
		/>
	)
}
