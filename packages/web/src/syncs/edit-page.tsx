import type { Sync } from '@remit/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { failureOf } from '../api/pages.ts'
import { call, read, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { useRecordForm } from '../forms/use-record-form.ts'
import { SyncCreate } from '../generated/fields.ts'
import { Loaded } from '../ui/loaded.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { toast } from '../ui/toast.ts'
import { SyncForm, type SyncValues } from './sync-form.tsx'

const route = getRouteApi('/syncs/$id/edit')

const valuesOf = (sync: Sync): SyncValues => {
	const { name, connectionId, mappingId, reverseMappingId, direction, mode, schedule } = sync
	const { conflictPolicy, deletePolicy, errorPolicy } = sync
	return { name, connectionId, mappingId, reverseMappingId, direction, mode, schedule, conflictPolicy, deletePolicy, errorPolicy }
}

export default function EditSyncPage() {
	const { id } = route.useParams()
	const query = useQuery(read('syncs.get', id))
	return (
		<>
			<PageHeader title={query.data ? `Edit ${query.data.name}` : 'Edit sync'} above={<Link to="/syncs">Syncs</Link>} />
			<Loaded data={query.data} failure={failureOf(query)}>
				{(sync) => <EditSync key={id} sync={sync} />}
			</Loaded>
		</>
	)
}

function EditSync({ sync: loaded }: { sync: Sync }) {
	// What the form began with: news from the server comes in by a merge alone.
	const [sync] = useState(loaded)
	const { personId } = useSession()
	const { navigate } = useRouter()
	const client = useQueryClient()
	const { mutateAsync } = useWrite('syncs.update')
	const { id } = sync
	const known = useRef(valuesOf(sync))
	const form = useRecordForm<SyncValues>({
		values: valuesOf(sync),
		version: sync.version,
		draftKey: [personId, 'sync', id],
		rules: { name: SyncCreate.name, mappingId: SyncCreate.mappingId },
		save: async ({ connectionId: _connection, direction: _direction, ...changed }, version) => {
			if (Object.keys(changed).length === 0) return
			const now = await call('syncs.get', id)
			// Each run makes a version as well: somebody else changed it only where what the form has is another.
			const isSame = JSON.stringify(valuesOf(now)) === JSON.stringify(known.current)
			await mutateAsync([id, changed, { ifMatch: isSame ? now.version : version }])
		},
		reload: async () => {
			const now = await call('syncs.get', id)
			client.setQueryData(read('syncs.get', id).queryKey, now)
			known.current = valuesOf(now)
			return { values: known.current, version: now.version }
		},
	})
	const leave = () => void navigate({ to: '/syncs/$id', params: { id } })
	return (
		<SyncForm
			form={form}
			isNew={false}
			action="Save"
			onCancel={leave}
			onSaved={() => {
				toast('The sync was saved')
				leave()
			}}
		/>
	)
}
