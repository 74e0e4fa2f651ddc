import type { TimeEntry } from '@remit/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { describe } from '../api/errors.ts'
import { call, read, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { useRecordForm } from '../forms/use-record-form.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { onFirstUse } from '../ui/on-first-use.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { InDialog } from '../ui/places.tsx'
import { toast } from '../ui/toast.ts'
import { spanOf, TimeForm, type TimeValues, timeRules, valuesOf } from './time-form.tsx'

const DeleteEntry = onFirstUse(() => import('./delete-entry.tsx'), InDialog)

import { Waiting } from '../ui/waiting.tsx'

const route = getRouteApi('/time/$id/edit')
const toList = <Link to="/time">Time</Link>

export default function EditTimePage() {
	const { id } = route.useParams()
	const { data, error } = useQuery(read('timeEntries.get', id))
	if (data?.status === 'open') return <EditTime key={id} entry={data} />
	if (!data && !error) return <Waiting title="Time entry" above={toList} />
	return (
		<>
			<PageHeader title="Time entry" above={toList} />
			{error && <ErrorPanel {...describe(error)} />}
			{data && (
				<EmptyState title="This time is on an invoice" action={toList}>
					It cannot change until the invoice is deleted or cancelled, or its line is removed.
				</EmptyState>
			)}
		</>
	)
}

function EditTime({ entry: loaded }: { entry: TimeEntry }) {
	// What the form began with: news from the server comes in by a merge alone.
	const [entry] = useState(loaded)
	const [isDeleting, setDeleting] = useState(false)
	const { personId, timeZone } = useSession()
	const { navigate } = useRouter()
	const client = useQueryClient()
	const { mutateAsync } = useWrite('timeEntries.update')
	const { id } = entry
	const isRunning = entry.durationSeconds === null
	const form = useRecordForm<TimeValues>({
		values: valuesOf(entry, timeZone),
		version: entry.version,
		draftKey: [personId, 'time', id],
		rules: { ...timeRules, durationSeconds: { type: 'integer', required: !isRunning } },
		save: async ({ day, clock, durationSeconds, dealId, ...changed }, version) => {
			const isMoved = (day ?? clock ?? durationSeconds) !== undefined
			const body = { ...changed, ...(dealId && { dealId }), ...(isMoved && spanOf(form.form.getValues(), timeZone)) }
			if (Object.keys(body).length > 0) await mutateAsync([id, body, { ifMatch: version }])
		},
		reload: async () => {
			const now = await call('timeEntries.get', id)
			client.setQueryData(read('timeEntries.get', id).queryKey, now)
			return { values: valuesOf(now, timeZone), version: now.version }
		},
	})
	const leave = () => void navigate({ to: '/time', search: { week: form.form.getValues('day') } })
	return (
		<>
			<PageHeader
				title="Edit time"
				above={toList}
				actions={
					<Button icon={<Trash2 />} onPress={() => setDeleting(true)}>
						Delete
					</Button>
				}
			/>
			<TimeForm
				form={form}
				action="Save"
				isRunning={isRunning}
				onCancel={leave}
				onSaved={() => {
					toast('The time was saved')
					leave()
				}}
			/>
			{isDeleting && (
				<DeleteEntry
					entry={entry}
					onClose={() => setDeleting(false)}
					onDeleted={() => {
						form.discard()
						leave()
					}}
				/>
			)}
		</>
	)
}
