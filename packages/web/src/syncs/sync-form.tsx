import type { Sync } from '@remit/sdk'
import { useController } from 'react-hook-form'
import { usePages } from '../api/pages.ts'
import { useSession } from '../api/session.ts'
import { FormField } from '../forms/form-field.tsx'
import { FormSelect } from '../forms/form-select.tsx'
import { RecordForm } from '../forms/record-form.tsx'
import type { RecordForm as Form } from '../forms/use-record-form.ts'
import { Card } from '../ui/card.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Field } from '../ui/field.tsx'
import { NativeSelect } from '../ui/native-select.tsx'
import { choicesOf, conflictPolicies, deletePolicies, directions, errorPolicies } from './words.ts'

export type SyncValues = Pick<
	Sync,
	| 'name'
	| 'connectionId'
	| 'mappingId'
	| 'reverseMappingId'
	| 'direction'
	| 'mode'
	| 'schedule'
	| 'conflictPolicy'
	| 'deletePolicy'
	| 'errorPolicy'
>

interface SyncFormProps {
	readonly form: Form<SyncValues>
	/** Of a sync that is there the connection and the direction stay. */
	readonly isNew: boolean
	readonly action: string
	readonly onSaved: () => void
	readonly onCancel: () => void
}

export function SyncForm({ form, isNew, ...props }: SyncFormProps) {
	const { locale } = useSession()
	const { control } = form.form
	const connections = usePages('connections.list', { limit: 100 })
	const mappings = usePages('mappings.list', { limit: 100, status: 'active' })
	const failure = connections.failure ?? mappings.failure
	const direction = useController({ control, name: 'direction' }).field.value
	const connectionId = useController({ control, name: 'connectionId' }).field.value
	const provider = connections.rows?.find(({ id }) => id === connectionId)?.provider
	/** Those between the provider and Remit that lead the right way. */
	const fitting = (isToRemit: boolean) =>
		(mappings.rows ?? [])
			.filter(({ source, target }) => (isToRemit ? target : source).system === 'internal')
			.filter(({ source, target }) => provider === undefined || (isToRemit ? source : target).system === provider)
			.map(({ id, name }) => ({ id, label: name }))
	return (
		<RecordForm form={form} locale={locale} need="manager" {...props}>
			{failure && <ErrorPanel isSmall {...failure} />}
			<Card title="What">
				<div className="form-grid">
					<FormField control={control} name="name" label="Name" isRequired autoFocus autoComplete="off" />
					{isNew && (
						<>
							<FormSelect
								control={control}
								name="connectionId"
								label="Connection"
								isRequired
								choices={(connections.rows ?? []).map(({ id, name }) => ({ id, label: name }))}
							/>
							<FormSelect control={control} name="direction" label="Direction" isRequired choices={choicesOf(directions)} />
						</>
					)}
					<FormSelect
						control={control}
						name="mappingId"
						label="Mapping"
						isRequired
						hint="Active mappings that fit the connection and the direction."
						choices={fitting(direction !== 'outbound')}
					/>
					{direction === 'bidirectional' && (
						<FormSelect control={control} name="reverseMappingId" label="Mapping back" isRequired choices={fitting(false)} />
					)}
				</div>
			</Card>
			<Card title="When">
				<Schedule form={form} />
			</Card>
			<Card title="What if">
				<div className="form-grid">
					<FormSelect
						control={control}
						name="conflictPolicy"
						label="A record changed on both sides"
						choices={choicesOf(conflictPolicies)}
					/>
					<FormSelect
						control={control}
						name="deletePolicy"
						label="A record was deleted on one side"
						choices={choicesOf(deletePolicies)}
					/>
					<FormSelect
						control={control}
						name="errorPolicy"
						label="A record cannot be written"
						choices={choicesOf(errorPolicies)}
					/>
				</div>
			</Card>
		</RecordForm>
	)
}

const types = { interval: 'At an interval', cron: 'At times (cron)', manual: 'By hand only' }

function Schedule({ form }: { form: Form<SyncValues> }) {
	const { control } = form.form
	const { field, fieldState } = useController({ control, name: 'schedule' })
	const { type, minutes, expression } = field.value
	const errors = fieldState.error as ({ message?: string } & Record<string, { message?: string }>) | undefined
	return (
		<div className="form-grid">
			<NativeSelect
				label="Runs begin"
				choices={choicesOf(types)}
				value={type}
				error={errors?.message}
				onChange={(id) =>
					field.onChange(
						id === 'interval'
							? { type: id, minutes: 15 }
							: id === 'cron'
								? { type: id, expression: '0 6 * * 1-5' }
								: { type: id },
					)
				}
			/>
			{type === 'interval' && (
				<Field
					label="Minutes between runs"
					isRequired
					inputMode="numeric"
					value={String(minutes ?? '')}
					onChange={(text) => field.onChange({ type, minutes: /^\d{1,5}$/.test(text) ? Number(text) : text })}
					error={errors?.minutes?.message}
				/>
			)}
			{type === 'cron' && (
				<Field
					label="Cron expression"
					isRequired
					hint="Minute, hour, day, month, day of the week, in the organization’s time zone."
					value={expression ?? ''}
					onChange={(text) => field.onChange({ type, expression: text })}
					error={errors?.expression?.message}
				/>
			)}
			<FormSelect
				control={control}
				name="mode"
				label="A run reads"
				choices={choicesOf({ incremental: 'What has changed', full: 'Everything' })}
			/>
		</div>
	)
}
