import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { type Control, type UseFormSetFocus, useController } from 'react-hook-form'
import { read } from '../../api/query.ts'
import { RecordPicker } from '../../forms/record-picker.tsx'
import { onFirstUse } from '../../ui/on-first-use.tsx'
import { InDialog } from '../../ui/places.tsx'
import type { InvoiceValues } from './values.ts'

const NewClient = onFirstUse(() => import('./new-client.tsx'), InDialog)

interface ClientFieldProps {
	readonly control: Control<InvoiceValues>
	readonly setFocus: UseFormSetFocus<InvoiceValues>
}

/** The company that is billed, found by typing; one that is not there yet is made here, and then the next field has the focus. */
export function ClientField({ control, setFocus }: ClientFieldProps) {
	const { field, fieldState } = useController({ control, name: 'companyId' })
	const [newName, setNewName] = useState<string>()
	const isMade = useRef(false)
	useEffect(() => {
		if (newName !== undefined || !isMade.current) return
		isMade.current = false
		// The dialog gives the focus back first.
		requestAnimationFrame(() => setFocus('invoiceNumber'))
	}, [newName, setFocus])
	const { data: chosen } = useQuery({ ...read('companies.get', field.value ?? ''), enabled: field.value !== null })
	return (
		<>
			<RecordPicker
				kind="companies"
				label="Client"
				placeholder="Search companies…"
				value={field.value}
				onChange={field.onChange}
				onCreate={setNewName}
				error={fieldState.error?.message}
				hint={chosen && field.value !== null && !chosen.billingEmail ? 'It has no e-mail for invoices yet.' : undefined}
			/>
			{newName !== undefined && (
				<NewClient
					name={newName}
					onClose={(id) => {
						setNewName(undefined)
						if (!id) return
						field.onChange(id)
						isMade.current = true
					}}
				/>
			)}
		</>
	)
}
