import type { Deal, InvoicePreview, TimeEntry } from '@remit/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { describe } from '../api/errors.ts'
import { useIdempotencyKey } from '../api/idempotency-key.ts'
import { list, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { editDecimal, showAmount } from '../format/amount.ts'
import { addDays, dayIn, showDay, showHours } from '../format/dates.ts'
import { Button } from '../ui/button.tsx'
import { CheckBox } from '../ui/check-box.tsx'
import { DateField } from '../ui/date-field.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Select } from '../ui/select.tsx'
import { toast } from '../ui/toast.ts'
import { useTimePreview } from './use-time-preview.ts'
import '../forms/record-form.css'

type Grouping = 'task' | 'deliverable' | 'all'

const groupings: readonly { readonly id: Grouping; readonly label: string }[] = [
	{ id: 'task', label: 'A line for each task' },
	{ id: 'deliverable', label: 'A line for each deliverable' },
	{ id: 'all', label: 'One line for all' },
]

const noTax = 'none'

interface MakeInvoiceProps {
	readonly deal: Deal
	readonly entries: readonly TimeEntry[]
	readonly onClose: () => void
}

/** A draft of the time that is not invoiced yet: which of it, in which lines, and what it comes to. */
export default function MakeInvoice({ deal, entries: open, onClose }: MakeInvoiceProps) {
	// While the invoice is made the list loses its entries.
	const [entries] = useState(open)
	const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
	const [groupBy, setGroupBy] = useState<Grouping>('task')
	const [rate, setRate] = useState<string>()
	const [includeTimesheet, setTimesheet] = useState(false)
	const { timeZone } = useSession()
	const today = dayIn(timeZone, Date.now())
	const [dueDate, setDueDate] = useState(addDays(today, 30))
	const rates = useInfiniteQuery(list('taxRates.list', { limit: 100 })).data?.pages[0]?.rows.filter(({ active }) => active) ?? []
	const taxRateId = rate ?? rates.find(({ isDefault }) => isDefault)?.id ?? noTax
	const chosen = entries.filter(({ id }) => !left.has(id))
	const input = { groupBy, includeTimesheet, ...(taxRateId !== noTax && { taxRateId }) }
	const { mutate, isPending, isSuccess, error } = useWrite('invoices.createFromTimeEntries')
	// Entries that are on the invoice have no preview any more.
	const preview = useTimePreview(deal, isPending || isSuccess ? [] : chosen, input)
	const key = useIdempotencyKey()
	const { navigate } = useRouter()
	const create = () => {
		const body = { ...input, ...(dueDate && { dueDate }), dealId: deal.id, timeEntryIds: chosen.map(({ id }) => id) }
		mutate([body, key.options()], {
			onError: key.failed,
			onSuccess: ({ id, invoiceNumber }) => {
				toast(`${invoiceNumber} was created`)
				onClose()
				void navigate({ to: `/invoices/${id}` })
			},
		})
	}
	const trouble = error ?? preview.error
	return (
		<Dialog
			title="Make an invoice"
			width="wide"
			isOpen
			onClose={onClose}
			actions={
				<>
					<Button onPress={onClose}>Cancel</Button>
					<Button look="primary" isPending={isPending} isDisabled={chosen.length === 0} onPress={create}>
						Create draft
					</Button>
				</>
			}
		>
			<Choices entries={entries} left={left} onChange={setLeft} />
			<div className="form-grid">
				<Select label="Lines" choices={groupings} value={groupBy} onChange={(id) => setGroupBy(id as Grouping)} />
				<Select
					label="Tax"
					choices={[
						{ id: noTax, label: 'No tax' },
						...rates.map(({ id, name, percent }) => ({ id, label: `${name}, ${percent} %` })),
					]}
					value={taxRateId}
					onChange={setRate}
				/>
				<DateField
					label="Due"
					value={dueDate}
					onChange={setDueDate}
					choices={[14, 30, 60].map((days) => ({ label: `${days} days`, value: addDays(today, days) }))}
				/>
			</div>
			<CheckBox isSelected={includeTimesheet} onChange={setTimesheet}>
				Attach the timesheet
			</CheckBox>
			{trouble && <ErrorPanel isSmall {...describe(trouble)} />}
			{preview.data && chosen.length > 0 && !preview.error && (
				<Preview preview={preview.data} isStale={preview.isPlaceholderData} />
			)}
			{chosen.length === 0 && <p className="field-note">Choose what to invoice.</p>}
		</Dialog>
	)
}

interface ChoicesProps {
	readonly entries: readonly TimeEntry[]
	readonly left: ReadonlySet<string>
	readonly onChange: (left: ReadonlySet<string>) => void
}

/** Plain boxes: there may be a thousand. */
function Choices({ entries, left, onChange }: ChoicesProps) {
	const { locale, timeZone } = useSession()
	const turn = (id: string) => {
		const next = new Set(left)
		if (!next.delete(id)) next.add(id)
		onChange(next)
	}
	const isAll = left.size === 0
	return (
		<div>
			<CheckBox
				isSelected={isAll}
				isIndeterminate={!isAll && left.size < entries.length}
				onChange={() => onChange(isAll ? new Set(entries.map(({ id }) => id)) : new Set())}
			>
				{`${entries.length - left.size} of ${entries.length} entries`}
			</CheckBox>
			<fieldset className="entry-choices" aria-label="Time entries">
				{entries.map(({ id, taskName, deliverableName, description, startedAt, durationSeconds }) => (
					<label key={id} className="entry-choice">
						<input type="checkbox" checked={!left.has(id)} onChange={() => turn(id)} />
						<span>
							{taskName ?? deliverableName ?? description ?? 'Work'}{' '}
							<small>{[showDay(dayIn(timeZone, startedAt), locale), taskName && description].filter(Boolean).join(' · ')}</small>
						</span>
						<span>{`${showHours(durationSeconds ?? 0)} h`}</span>
					</label>
				))}
			</fieldset>
		</div>
	)
}

function Preview({ preview, isStale }: { preview: InvoicePreview; isStale: boolean }) {
	const { locale } = useSession()
	const { lineItems, subtotalCents, taxCents, totalCents, currency } = preview
	const show = (cents: number) => showAmount(cents, currency, locale)
	return (
		<table className="preview" aria-label="Preview" data-stale={isStale || undefined}>
			<thead>
				<tr>
					<th scope="col">Line</th>
					<th scope="col">Hours</th>
					<th scope="col">Amount</th>
				</tr>
			</thead>
			<tbody>
				{lineItems.map(({ description, quantity, amountCents }, index) => (
					// biome-ignore lint/suspicious/noArrayIndexKey: lines of a preview have no id.
					<tr key={index}>
						<td>{description}</td>
						<td>{editDecimal(quantity, locale)}</td>
						<td>{show(amountCents)}</td>
					</tr>
				))}
			</tbody>
			<tfoot>
				<tr>
					<th colSpan={2}>Before tax</th>
					<td>{show(subtotalCents)}</td>
				</tr>
				<tr>
					<th colSpan={2}>Tax</th>
					<td>{show(taxCents)}</td>
				</tr>
				<tr>
					<th colSpan={2}>Total</th>
					<td>{show(totalCents)}</td>
				</tr>
			</tfoot>
		</table>
	)
}
