import type { MappingCreate } from '@remit/sdk'
import { Link, useRouter } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useIdempotencyKey } from '../api/idempotency-key.ts'
import { failureOf, usePages } from '../api/pages.ts'
import { useWrite } from '../api/query.ts'
import { OnlyFor } from '../forms/only-for.tsx'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Field } from '../ui/field.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { NativeSelect } from '../ui/native-select.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { useSides } from './use-sides.ts'
import '../forms/record-form.css'
import './mappings.css'

export default function NewMappingPage() {
	return (
		<>
			<PageHeader title="New mapping" above={<Link to="/mappings">Mappings</Link>} />
			<OnlyFor need="manager" toCreate>
				<NewMapping />
			</OnlyFor>
		</>
	)
}

function NewMapping() {
	const { navigate } = useRouter()
	const defaults = usePages('mappings.defaults.list', { limit: 100 })
	const key = useIdempotencyKey()
	const write = useWrite('mappings.create')
	const trouble = failureOf(write)
	const create = (mapping: MappingCreate) =>
		write.mutate([{ ...mapping, status: 'draft' }, key.options()], {
			onSuccess: ({ id }) => void navigate({ to: '/mappings/$id', params: { id }, replace: true }),
			onError: key.failed,
		})
	const showSides = useSides()
	return (
		<>
			{trouble && <ErrorPanel isSmall {...trouble} />}
			<Card title="Begin with one that Remit brings along">
				<Loaded data={defaults.rows} failure={defaults.failure} rows={3}>
					{(mappings) => (
						<ul className="defaults">
							{mappings.map((mapping) => (
								<li key={mapping.name}>
									<div>
										<strong>{mapping.name}</strong>
										<p className="quiet-text">{`${showSides(mapping)}, ${mapping.fields.length} fields`}</p>
									</div>
									<Button isSmall isDisabled={write.isPending} aria-label={`Use ${mapping.name}`} onPress={() => create(mapping)}>
										Use
									</Button>
								</li>
							))}
						</ul>
					)}
				</Loaded>
			</Card>
			<Blank isPending={write.isPending} onCreate={create} />
		</>
	)
}

function Blank({ isPending, onCreate }: { isPending: boolean; onCreate: (mapping: MappingCreate) => void }) {
	const providers = usePages('connections.providers.list', { limit: 100 })
	const [name, setName] = useState('')
	const [system, setSystem] = useState('http_json')
	const [object, setObject] = useState('')
	const [record, setRecord] = useState('company')
	const [way, setWay] = useState('in')
	const submit = (event: FormEvent) => {
		event.preventDefault()
		const [there, here] = [
			{ system, object },
			{ system: 'internal', object: record },
		]
		onCreate({ name, source: way === 'in' ? there : here, target: way === 'in' ? here : there, fields: [] })
	}
	return (
		<Card title="Or with an empty one">
			<form className="record-form" noValidate onSubmit={submit}>
				<div className="form-grid">
					<Field label="Name" isRequired value={name} onChange={setName} autoComplete="off" />
					<NativeSelect
						label="Direction"
						value={way}
						choices={[
							{ id: 'in', label: 'From the provider to Remit' },
							{ id: 'out', label: 'From Remit to the provider' },
						]}
						onChange={setWay}
					/>
					<NativeSelect
						label="Provider"
						value={system}
						choices={(providers.rows ?? []).map((provider) => ({ id: provider.id, label: provider.name }))}
						onChange={setSystem}
					/>
					<Field label="Object of the provider" isRequired value={object} onChange={setObject} placeholder="customers" />
					<NativeSelect
						label="Record of Remit"
						value={record}
						choices={[
							{ id: 'company', label: 'Company' },
							{ id: 'invoice', label: 'Invoice' },
						]}
						onChange={setRecord}
					/>
				</div>
				<div>
					<Button type="submit" isPending={isPending} isDisabled={!name.trim() || !object.trim()}>
						Create draft
					</Button>
				</div>
			</form>
		</Card>
	)
}
