import type { Deal } from '@remit/sdk'
import { useWatch } from 'react-hook-form'
import { useSession } from '../api/session.ts'
import { FormField } from '../forms/form-field.tsx'
import { FormCheck, FormMoney, FormRecord } from '../forms/form-inputs.tsx'
import { FormSelect } from '../forms/form-select.tsx'
import { usePipelines } from '../forms/pipelines.ts'
import { RecordForm } from '../forms/record-form.tsx'
import type { RecordForm as Form } from '../forms/use-record-form.ts'
import type { DealCreate } from '../generated/fields.ts'
import { Card } from '../ui/card.tsx'

export type DealValues = Pick<Deal, keyof typeof DealCreate>

/** What the form has of a record. */
export const valuesOf = ({
	name,
	companyId,
	contactId,
	pipelineId,
	stage,
	autoAdvance,
	currency,
	valueCents,
	hourlyRateCents,
}: DealValues): DealValues => ({
	name,
	companyId,
	contactId,
	pipelineId,
	stage,
	autoAdvance,
	currency,
	valueCents,
	hourlyRateCents,
})

interface DealFormProps {
	readonly form: Form<DealValues>
	readonly action: string
	readonly onSaved: () => void
	readonly onCancel: () => void
}

export function DealForm({ form, ...props }: DealFormProps) {
	const { locale } = useSession()
	const { control } = form.form
	const [currency, companyId] = useWatch({ control, name: ['currency', 'companyId'] })
	const money = { control, locale, currency: /^[A-Z]{3}$/i.test(currency) ? currency.toUpperCase() : 'EUR' }
	return (
		<RecordForm form={form} locale={locale} {...props}>
			<Card title="Deal">
				<div className="form-grid">
					<FormField control={control} name="name" label="Name" isRequired autoFocus autoComplete="off" />
					<FormRecord control={control} name="companyId" label="Company" kind="companies" placeholder="Who is billed" />
					<FormRecord
						control={control}
						name="contactId"
						label="Contact"
						kind="contacts"
						{...(companyId && { filter: { companyId } })}
						placeholder="Who you talk to"
					/>
					<StageFields form={form} />
				</div>
			</Card>
			<Card title="Money">
				<div className="form-grid">
					<FormField
						control={control}
						name="currency"
						label="Currency"
						isRequired
						maxLength={3}
						hint="Of its value, its rate and its invoices, such as EUR."
					/>
					<FormMoney {...money} name="valueCents" label="Value" />
					<FormMoney
						{...money}
						name="hourlyRateCents"
						label="Hourly rate"
						hint="Of time without a rate of its own. Empty: the organization's."
					/>
					<FormCheck
						control={control}
						name="autoAdvance"
						label="Move to the next stage when it is paid"
						hint="Stages that have one say where a paid invoice leads."
					/>
				</div>
			</Card>
		</RecordForm>
	)
}

function StageFields({ form }: { form: Form<DealValues> }) {
	const { control, setValue } = form.form
	const { pipelines = [] } = usePipelines()
	const pipelineId = useWatch({ control, name: 'pipelineId' })
	const stagesOf = (id: string) => pipelines.find((pipeline) => pipeline.id === id)?.stages ?? []
	const change = (id: string) => {
		setValue('pipelineId', id, { shouldDirty: true })
		setValue('stage', stagesOf(id)[0]?.key ?? '', { shouldDirty: true })
	}
	return (
		<>
			{pipelines.length > 1 && (
				<FormSelect
					control={control}
					name="pipelineId"
					label="Pipeline"
					choices={pipelines.map(({ id, name }) => ({ id, label: name }))}
					onChoose={change}
					isRequired
				/>
			)}
			<FormSelect
				control={control}
				name="stage"
				label="Stage"
				choices={stagesOf(pipelineId).map(({ key, label }) => ({ id: key, label }))}
				isRequired
			/>
		</>
	)
}
