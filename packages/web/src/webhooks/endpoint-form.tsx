import type { EndpointHeader, EndpointOrdering } from '@remit/sdk'
import { Plus, X } from 'lucide-react'
import { type Control, useController } from 'react-hook-form'
import { useSession } from '../api/session.ts'
import { FormField } from '../forms/form-field.tsx'
import { RecordForm } from '../forms/record-form.tsx'
import type { RecordForm as Form } from '../forms/use-record-form.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { CheckBox } from '../ui/check-box.tsx'
import { Field } from '../ui/field.tsx'
import { EventPicker } from './event-picker.tsx'
import './webhooks.css'

export interface EndpointValues {
	url: string
	description: string | null
	eventTypes: string[]
	ordering: EndpointOrdering
	/** Null: as they are. No answer shows their values, so that they are replaced as a whole. */
	headers: EndpointHeader[] | null
}

interface EndpointFormProps {
	readonly form: Form<EndpointValues>
	readonly action: string
	/** The headers that the endpoint has. */
	readonly headerNames: readonly string[]
	readonly onSaved: () => void
	readonly onCancel: () => void
}

export function EndpointForm({ form, headerNames, ...props }: EndpointFormProps) {
	const { locale } = useSession()
	const { control } = form.form
	const events = useController({ control, name: 'eventTypes' })
	const ordering = useController({ control, name: 'ordering' })
	return (
		<RecordForm form={form} locale={locale} need="admin" {...props}>
			<Card title="Endpoint">
				<FormField
					control={control}
					name="url"
					label="URL"
					type="url"
					isRequired
					autoFocus
					placeholder="https://acme.example/webhooks/remit"
					hint="A POST request with a signature goes there for each event."
				/>
				<FormField control={control} name="description" label="Description" />
			</Card>
			<Card title="Events">
				<EventPicker
					value={events.field.value}
					onChange={events.field.onChange}
					error={events.fieldState.error && (events.fieldState.error.message ?? 'Choose at least one')}
				/>
			</Card>
			<Card title="Delivery">
				<CheckBox
					isSelected={ordering.field.value === 'resource'}
					onChange={(isOn) => ordering.field.onChange(isOn ? 'resource' : 'none')}
				>
					Send the events of one record in their order
				</CheckBox>
				<p className="quiet-text">
					An event that is rejected then holds the later ones of its record back for up to five minutes.
				</p>
				<Headers control={control} names={headerNames} />
			</Card>
		</RecordForm>
	)
}

function Headers({ control, names }: { control: Control<EndpointValues>; names: readonly string[] }) {
	const { field, fieldState } = useController({ control, name: 'headers' })
	const headers = field.value
	if (headers === null)
		return (
			<div className="event-row">
				<span>
					{names.length > 0
						? `Headers of all requests: ${names.join(', ')}. Their values are hidden.`
						: 'No headers of your own.'}
				</span>
				<Button isSmall onPress={() => field.onChange([{ name: '', value: '' }])}>
					{names.length > 0 ? 'Replace' : 'Add a header'}
				</Button>
			</div>
		)
	const change = (index: number, part: Partial<EndpointHeader>) =>
		field.onChange(headers.map((header, at) => (at === index ? { ...header, ...part } : header)))
	const errors = fieldState.error as { message?: string } & Record<number, Record<string, { message?: string }>>
	return (
		<fieldset className="event-groups">
			<legend className="label">Headers of all requests</legend>
			{headers.map((header, index) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: a header has nothing else that stays.
				<div key={index} className="header-row">
					<Field
						label="Name"
						isRequired
						value={header.name}
						onChange={(name) => change(index, { name })}
						error={errors?.[index]?.name?.message}
					/>
					<Field
						label="Value"
						isRequired
						value={header.value}
						onChange={(value) => change(index, { value })}
						error={errors?.[index]?.value?.message}
					/>
					<Button
						look="quiet"
						aria-label={`Remove header ${index + 1}`}
						icon={<X />}
						onPress={() => field.onChange(headers.filter((_, at) => at !== index))}
					/>
				</div>
			))}
			{errors?.message && <p className="field-note field-error">{errors.message}</p>}
			<div>
				<Button isSmall icon={<Plus />} onPress={() => field.onChange([...headers, { name: '', value: '' }])}>
					Add a header
				</Button>
			</div>
		</fieldset>
	)
}
