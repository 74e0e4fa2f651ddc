import { useSession } from '../../api/session.ts'
import { FormField } from '../../forms/form-field.tsx'
import { FormCheck } from '../../forms/form-inputs.tsx'
import { RecordForm } from '../../forms/record-form.tsx'
import type { RecordForm as Form } from '../../forms/use-record-form.ts'
import { Card } from '../../ui/card.tsx'
import { Stages } from './stages.tsx'
import type { Values } from './values.ts'

interface PipelineFormProps {
	readonly form: Form<Values>
	readonly action: string
	readonly onSaved: () => void
	readonly onCancel: () => void
	readonly isNew?: boolean
}

export function PipelineForm({ form, isNew = false, ...props }: PipelineFormProps) {
	const { locale } = useSession()
	const { control } = form.form
	return (
		<RecordForm form={form} locale={locale} {...props}>
			<Card title="Pipeline">
				<div className="form-grid">
					<FormField control={control} name="name" label="Name of the pipeline" isRequired autoComplete="off" autoFocus={isNew} />
					<FormCheck
						control={control}
						name="advanceWhenAllPaid"
						label="A payment moves a deal only when no other invoice of it is open"
					/>
				</div>
			</Card>
			<Stages control={control} />
		</RecordForm>
	)
}
