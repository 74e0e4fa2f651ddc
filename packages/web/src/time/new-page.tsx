import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { dayIn } from '../format/dates.ts'
import { useRecordForm } from '../forms/use-record-form.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { toast } from '../ui/toast.ts'
import { spanOf, TimeForm, type TimeValues, timeRules } from './time-form.tsx'

const route = getRouteApi('/time/new')

export default function NewTimePage() {
	const { personId, timeZone } = useSession()
	const { deal = null, day = dayIn(timeZone, Date.now()) } = route.useSearch()
	const { navigate, history } = useRouter()
	const { mutateAsync } = useWrite('timeEntries.create')
	const [values] = useState<TimeValues>({
		dealId: deal,
		taskName: null,
		description: null,
		day,
		clock: '09:00',
		durationSeconds: null,
		billable: true,
	})
	const form = useRecordForm<TimeValues>({
		values,
		version: 0,
		draftKey: [personId, 'time', 'new'],
		rules: timeRules,
		save: async (changed, _version, idempotencyKey) => {
			const { day: _day, clock: _clock, ...entry } = { ...values, ...changed }
			const span = spanOf({ ...values, ...changed }, timeZone)
			await mutateAsync([{ ...entry, ...span, dealId: entry.dealId ?? '', userId: personId }, { idempotencyKey }])
		},
	})
	const leave = () => {
		if (deal) void navigate({ to: '/deals/$id', params: { id: deal }, replace: true })
		else void navigate({ to: '/time', search: { week: form.form.getValues('day') }, replace: true })
	}
	return (
		<>
			<PageHeader title="Add time" above={<Link to="/time">Time</Link>} />
			<TimeForm
				form={form}
				action="Add time"
				onCancel={() => history.back()}
				onSaved={() => {
					toast('The time was added')
					leave()
				}}
			/>
		</>
	)
}
