import type { Pipeline } from '@remit/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { failureOf } from '../../api/pages.ts'
import { call, read, useWrite } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { useRecordForm } from '../../forms/use-record-form.ts'
import { PipelineUpdate } from '../../generated/fields.ts'
import { Button } from '../../ui/button.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { onFirstUse } from '../../ui/on-first-use.tsx'
import { InDialog } from '../../ui/places.tsx'
import { toast } from '../../ui/toast.ts'
import { SettingsPage } from '../settings-page.tsx'
import { PipelineForm } from './pipeline-form.tsx'
import { checkStages, stagesOf, type Values, valuesOf } from './values.ts'

const DeletePipeline = onFirstUse(() => import('./delete-pipeline.tsx'), InDialog)

const route = getRouteApi('/settings/pipelines/$id')

export default function EditPipelinePage() {
	const { id } = route.useParams()
	const pipeline = useQuery(read('pipelines.get', id))
	const [isDeleting, setDeleting] = useState(false)
	const { data } = pipeline
	return (
		<SettingsPage
			title={data ? `Edit ${data.name}` : 'Pipeline'}
			above={<Link to="/settings/pipelines">Pipelines</Link>}
			actions={
				data && (
					<Button icon={<Trash2 />} onPress={() => setDeleting(true)}>
						Delete
					</Button>
				)
			}
		>
			<Loaded data={data} failure={failureOf(pipeline)}>
				{(loaded) => <EditPipeline key={id} pipeline={loaded} />}
			</Loaded>
			{isDeleting && data && <DeletePipeline pipeline={data} onClose={() => setDeleting(false)} />}
		</SettingsPage>
	)
}

function EditPipeline({ pipeline: loaded }: { pipeline: Pipeline }) {
	// What the form began with: news from the server comes in by a merge alone.
	const [pipeline] = useState(loaded)
	const { personId } = useSession()
	const { navigate } = useRouter()
	const client = useQueryClient()
	const { mutateAsync } = useWrite('pipelines.update')
	const { id } = pipeline
	const form = useRecordForm<Values>({
		values: valuesOf(pipeline),
		version: pipeline.version,
		draftKey: [personId, 'pipeline', id],
		rules: { name: PipelineUpdate.name },
		check: checkStages,
		save: async ({ stages, ...changed }, version) => {
			const body = { ...changed, ...(stages && { stages: stagesOf(stages) }) }
			if (Object.keys(body).length > 0) await mutateAsync([id, body, { ifMatch: version }])
		},
		reload: async () => {
			const now = await call('pipelines.get', id)
			client.setQueryData(read('pipelines.get', id).queryKey, now)
			return { values: valuesOf(now), version: now.version }
		},
		// A new stage gets another id, by which others name it.
		waits: true,
	})
	const leave = () => void navigate({ to: '/settings/pipelines' })
	return (
		<PipelineForm
			form={form}
			action="Save"
			onCancel={leave}
			onSaved={() => {
				toast('The pipeline was saved')
				leave()
			}}
		/>
	)
}
