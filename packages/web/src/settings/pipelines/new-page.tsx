import { Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { useRecordForm } from '../../forms/use-record-form.ts'
import { PipelineCreate } from '../../generated/fields.ts'
import { toast } from '../../ui/toast.ts'
import { SettingsPage } from '../settings-page.tsx'
import { PipelineForm } from './pipeline-form.tsx'
import { blankPipeline, checkStages, stagesOf, type Values } from './values.ts'

export default function NewPipelinePage() {
	return (
		<SettingsPage title="New pipeline" above={<Link to="/settings/pipelines">Pipelines</Link>}>
			<NewPipeline />
		</SettingsPage>
	)
}

function NewPipeline() {
	const { personId } = useSession()
	const { navigate } = useRouter()
	const { mutateAsync } = useWrite('pipelines.create')
	const [values] = useState(blankPipeline)
	const form = useRecordForm<Values>({
		values,
		version: 0,
		draftKey: [personId, 'pipeline', 'new'],
		rules: { name: PipelineCreate.name },
		check: checkStages,
		save: async (_changed, _version, idempotencyKey) => {
			const { name, advanceWhenAllPaid, stages } = form.form.getValues()
			await mutateAsync([{ name, advanceWhenAllPaid, stages: stagesOf(stages) }, { idempotencyKey }])
		},
	})
	const leave = () => void navigate({ to: '/settings/pipelines' })
	return (
		<PipelineForm
			form={form}
			action="Create pipeline"
			isNew
			onCancel={leave}
			onSaved={() => {
				toast('The pipeline was created')
				leave()
			}}
		/>
	)
}
