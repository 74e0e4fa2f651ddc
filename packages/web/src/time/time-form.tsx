import type { TimeEntry } from '@remit/sdk'
import { Input } from 'react-aria-components/Input'
import { useController } from 'react-hook-form'
import { useSession } from '../api/session.ts'
import { clockIn, dayIn, instantIn } from '../format/dates.ts'
import { FormField } from '../forms/form-field.tsx'
import { FormCheck, FormRecord } from '../forms/form-inputs.tsx'
import { RecordForm } from '../forms/record-form.tsx'
import type { FieldRules } from '../forms/rules.ts'
import type { RecordForm as Form } from '../forms/use-record-form.ts'
import { TimeEntryCreate } from '../generated/fields.ts'
import { Card } from '../ui/card.tsx'
import { DateField } from '../ui/date-field.tsx'
import { Field } from '../ui/field.tsx'
import { HoursField } from './hours-field.tsx'

export interface TimeValues {
	readonly dealId: string | null
	readonly taskName: string | null
	readonly description: string | null
	/** The day and time of day of the start, in the zone of the organization. */
	readonly day: string
	readonly clock: string
	/** Null while it is running. */
	readonly durationSeconds: number | null
	readonly billable: boolean
}

export const timeRules: Readonly<Record<keyof TimeValues, FieldRules>> = {
	...TimeEntryCreate,
	durationSeconds: { type: 'integer', required: true },
	day: { type: 'string', required: true },
	clock: { type: 'string', required: true },
}

/** What the form has of an entry. */
export const valuesOf = ({ startedAt, ...entry }: TimeEntry, timeZone: string): TimeValues => ({
	dealId: entry.dealId,
	taskName: entry.taskName,
	description: entry.description,
	day: dayIn(timeZone, startedAt),
	clock: clockIn(timeZone, startedAt),
	durationSeconds: entry.durationSeconds,
	billable: entry.billable,
})

/** When it began, and for how long, unless it is running: the duration stays when the start moves. */
export const spanOf = ({ day, clock, durationSeconds }: TimeValues, timeZone: string) => ({
	startedAt: instantIn(timeZone, day, clock),
	...(durationSeconds !== null && { durationSeconds }),
})

interface TimeFormProps {
	readonly form: Form<TimeValues>
	readonly action: string
	readonly isRunning?: boolean
	readonly onSaved: () => void
	readonly onCancel: () => void
}

export function TimeForm({ form, isRunning = false, ...props }: TimeFormProps) {
	const { locale, timeZone } = useSession()
	const { control } = form.form
	return (
		<RecordForm form={form} locale={locale} {...props}>
			<Card>
				<div className="form-grid">
					<div className="wide">
						<FormRecord control={control} name="dealId" label="Deal" kind="deals" isRequired />
					</div>
					<FormField
						control={control}
						name="taskName"
						label="Task"
						hint="Invoices show it as the name of a line."
						autoComplete="off"
					/>
					<FormField control={control} name="description" label="What was done" autoComplete="off" />
					<DayField form={form} />
					<ClockField form={form} hint={`In the time of ${timeZone}.`} />
					<HoursField
						control={control}
						name="durationSeconds"
						isRequired={!isRunning}
						hint={isRunning ? 'It is running: a duration ends it.' : 'Without breaks, such as 1:30 or 1.5.'}
					/>
					<FormCheck control={control} name="billable" label="Billable" />
				</div>
			</Card>
		</RecordForm>
	)
}

function DayField({ form }: { form: Form<TimeValues> }) {
	const { field, fieldState } = useController({ control: form.form.control, name: 'day' })
	return <DateField label="Day" isRequired {...field} error={fieldState.error?.message} />
}

function ClockField({ form, hint }: { form: Form<TimeValues>; hint: string }) {
	const { field, fieldState } = useController({ control: form.form.control, name: 'clock' })
	const { ref, ...props } = field
	return (
		<Field label="Start" isRequired hint={hint} {...props} error={fieldState.error?.message}>
			<Input ref={ref} type="time" className="input" />
		</Field>
	)
}
