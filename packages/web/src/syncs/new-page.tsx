import { Link, useRouter } from '@tanstack/react-router'
import { useRef } from 'react'
import { usePages } from '../api/pages.ts'
import { useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { useRecordForm } from '../forms/use-record-form.ts'
import { SyncCreate } from '../generated/fields.ts'
import { Banner } from '../ui/banner.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { toast } from '../ui/toast.ts'
import { SyncForm, type SyncValues } from './sync-form.tsx'

const blank: SyncValues = {
	name: '',
	connectionId: '',
	mappingId: '',
	reverseMappingId: null,
	direction: 'inbound',
	mode: 'incremental',
	schedule: { type: 'interval', minutes: 15 },
	conflictPolicy: 'source_wins',
	deletePolicy: 'ignore',
	errorPolicy: 'continue',
}

export default function NewSyncPage() {
	const { personId } = useSession()
	const { navigate, history } = useRouter()
	const { mutateAsync } = useWrite('syncs.create')
	const created = useRef('')
	const connections = usePages('connections.list', { limit: 100 })
	const form = useRecordForm<SyncValues>({
		values: blank,
		version: 0,
		draftKey: [personId, 'sync', 'new'],
		rules: { name: SyncCreate.name, connectionId: SyncCreate.connectionId, mappingId: SyncCreate.mappingId },
		save: async (changed, _version, idempotencyKey) => {
			const { id } = await mutateAsync([{ ...blank, ...changed }, { idempotencyKey }])
			created.current = id
		},
	})
	return (
		<>
			<PageHeader title="New sync" above={<Link to="/syncs">Syncs</Link>} />
			{connections.rows?.length === 0 && (
				<Banner action={<Link to="/connections">Connect a provider</Link>}>
					A sync needs a connection, and there is none yet.
				</Banner>
			)}
			<SyncForm
				form={form}
				isNew
				action="Create and run"
				onCancel={() => history.back()}
				onSaved={() => {
					toast('The sync was created, and its first run begins')
					void navigate({ to: '/syncs/$id', params: { id: created.current }, replace: true })
				}}
			/>
		</>
	)
}
