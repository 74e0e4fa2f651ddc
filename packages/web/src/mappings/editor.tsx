import type { Mapping, MappingField } from '@remit/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useRef, useState } from 'react'
import { get, useController } from 'react-hook-form'
import { nameOf } from '../api/errors.ts'
import { call, read, useWrite } from '../api/query.ts'
import { randomId } from '../api/random-id.ts'
import { useSession } from '../api/session.ts'
import { FormField } from '../forms/form-field.tsx'
import { RecordForm } from '../forms/record-form.tsx'
import { useRecordForm } from '../forms/use-record-form.ts'
import { MappingUpdate } from '../generated/fields.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { toast } from '../ui/toast.ts'
import { FieldRow } from './field-row.tsx'
import { Preview } from './preview.tsx'
import './mappings.css'

/** A field with an id of this page, by which the changes of two people are told apart. */
export type Row = MappingField & { readonly id: string }

interface Values {
	name: string
	fields: Row[]
}

const valuesOf = ({ name, fields }: Mapping): Values => ({
	name,
	fields: fields.map((field) => ({ ...field, id: field.target })),
})

const withoutId = ({ id: _, ...field }: Row): MappingField => field

export function Editor({ mapping: loaded }: { mapping: Mapping }) {
	// As the form has read it last: other news from the server comes in by a merge alone.
	const [mapping, setMapping] = useState(loaded)
	const { personId, locale } = useSession()
	const { history } = useRouter()
	const client = useQueryClient()
	const { mutateAsync } = useWrite('mappings.update')
	const { id, validation } = mapping
	const issues = new Map(validation.issues.map(({ pointer, message }) => [nameOf(pointer), message]))
	const known = useRef(valuesOf(mapping))
	const form = useRecordForm<Values>({
		values: valuesOf(mapping),
		version: mapping.version,
		draftKey: [personId, 'mapping', id],
		rules: { name: MappingUpdate.name },
		save: async ({ fields, ...changed }, version) => {
			const body = { ...changed, ...(fields && { fields: fields.map(withoutId) }) }
			if (Object.keys(body).length === 0) return
			const now = await call('mappings.get', id)
			// Its status makes versions as well, which is no conflict with what the form has.
			const isSame = JSON.stringify(valuesOf(now)) === JSON.stringify(known.current)
			await mutateAsync([id, body, { ifMatch: isSame ? now.version : version }])
		},
		reload: async () => {
			const now = await call('mappings.get', id)
			client.setQueryData(read('mappings.get', id).queryKey, now)
			setMapping(now)
			known.current = valuesOf(now)
			return { values: known.current, version: now.version }
		},
		staysOpen: true,
	})
	const { field, formState } = useController({ control: form.form.control, name: 'fields' })
	const rows = field.value
	/** Of the last attempt to save; of a draft as it was saved, what its validation says. */
	const errorOf = (name: string): string | undefined =>
		(get(formState.errors, name) as { message?: string } | undefined)?.message ?? (form.isDirty ? undefined : issues.get(name))
	const change = (index: number, row: Row) => field.onChange(rows.map((one, at) => (at === index ? row : one)))
	return (
		<>
			<RecordForm
				form={form}
				locale={locale}
				action="Save"
				onSaved={() => toast('The mapping was saved')}
				onCancel={() => history.back()}
			>
				<Card title="Mapping">
					<FormField control={form.form.control} name="name" label="Name" isRequired autoComplete="off" />
				</Card>
				<Card title="Fields">
					{errorOf('fields') && <p className="bad-text">{errorOf('fields')}</p>}
					<ul className="mapping-rows">
						{rows.map((row, index) => (
							<FieldRow
								key={row.id}
								row={row}
								number={index + 1}
								errorOf={(place) => errorOf(`fields.${index}.${place}`)}
								onChange={(changed) => change(index, changed)}
								onRemove={() => field.onChange(rows.filter((_, at) => at !== index))}
							/>
						))}
					</ul>
					<div>
						<Button isSmall icon={<Plus />} onPress={() => field.onChange([...rows, { id: randomId(), source: '', target: '' }])}>
							Add a field
						</Button>
					</div>
				</Card>
			</RecordForm>
			<Preview mapping={mapping} fields={rows.map(withoutId)} />
		</>
	)
}
