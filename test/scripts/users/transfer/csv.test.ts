// CSV files, as spreadsheets and other programs write them.
import { expect, test } from '@jest/globals'
import type { Columns } from '../../../../scripts/users/transfer/titles.ts'
import { readCsv } from '../../../../scripts/users/transfer/csv.ts'
import type { Line } from '../../../../scripts/users/transfer/lines.ts'
import { read, readAnyhow } from '../../../support/transfers.ts'

const BROKEN = 'its quotes are broken'
const NO_USER = 'it looks like a footer or a line of a table: delete it, or give the user an email'
const MORE = 'its email has more than an address, perhaps invisibly: leave only the address'
const LONG = 'it is longer than 8,500,000 characters'

/** Lines as text, such as `2 Ada <a@x>`. */
const shown = (lines: Line[]) =>
  lines.map((line) => {
    if ('reason' in line) return `${line.line}: ${line.reason}`
    const { id, name, email } = line.fields as Record<string, string>
    return `${line.line} ${name} <${email}>${id && ` ${id}`}`
  })

test.each([
  ['a line without its end', 'name,email\nAda,a@x', '2 Ada <a@x>'],
  ['CRLF', 'name,email\r\nAda,a@x\r\nB,b@x\r\n', '2 Ada <a@x>', '3 B <b@x>'],
  ['only CR', 'name,email\rAda,a@x\r"B\rC",b@x\rD,', '2 Ada <a@x>', '3 B\rC <b@x>', '5 D <>'],
  ['CR CR LF', 'email,name\r\r\na@x,Ada\r\r\n', '3 Ada <a@x>'],
  ['names in parts', 'E_mail,Last-Name,FIRST NAME\na,L,Ada\nb,,B\n', '2 Ada L <a>', '3 B <b>'],
  ['middle names', 'Given Name,Middle Name,Last Name,E-mail 1 - Value\nA,B,C,d\n', '2 A B C <d>'],
  ['semicolons', '\r\n \nname;email\nAda, Lady;a@x\n', '4 Ada, Lady <a@x>'],
  ['the first line of Excel in quotes', '"sep=;"\nname;email\nAda;a@x\n', '3 Ada <a@x>'],
  ['the first line of Excel, filled up', 'sep=;;;\nname;email;;\nAda;a@x;;\n', '3 Ada <a@x>'],
  ['bars', 'name|email\nAda|a@x\n', '2 Ada <a@x>'],
  ['the first line of Excel', 'sep=;\r\nname;email\r\nAda;a@x\r\n', '3 Ada <a@x>'],
  ['quotes', '"name","email"\n"Ada ""the"" L","a,b@x"\n', '2 Ada "the" L <a,b@x>'],
  ['a quote within a field', 'name,email\nAda "the" L,a@x\n', '2 Ada "the" L <a@x>'],
  ['a long field', 'name,email\n"A\r\nB",a@x\nC,c@x\n', '2 A\r\nB <a@x>', '4 C <c@x>'],
  ['a line break in a title', '1;"a\n,b";name;email\n2;1;Ada;a@x\n', '3 Ada <a@x>'],
  ['empty lines', '\n\nname,email\n\nAda,a@x\n,\n\n', '5 Ada <a@x>'],
  ['empty fields', 'name,email\nAda,\n,b@x\n', '2 Ada <>', '3  <b@x>'],
  ['empty fields after the last', 'name,email\nAda,a@x,,\n', '2 Ada <a@x>'],
  ['no fields after those that are read', 'name,email,fax\nAda,a@x\n', '2 Ada <a@x>'],
  ['spaces, kept in quotes', 'email,name\n a , Ada\n" b ",Bob\n', '2 Ada <a>', '3 Bob < b >'],
  ['spaces around quotes', '"name", "email"\n"A, B" ,  "a" \nC, "c"\n', '2 A, B <a>', '3 C <c>'],
])('a file may have %s', async (_, file, ...lines) => {
  expect(shown(await readAnyhow(readCsv, file))).toEqual(lines)
})

test.each([
  ['too few fields', 'Bob', 'it has 1 field, but the first line has 2 titles'],
  ['too many fields', 'Bob,b@x,1', 'it has 3 fields, but the first line has 2 titles'],
  ['the titles', 'Name,Email', 'it repeats the titles'],
  ['other titles', 'First Name,E-mail address', 'it repeats the titles'],
  ['a rule of a table', '---,---', NO_USER],
  ['a total', 'Grand Totals (2 records),', NO_USER],
  ['a note', '"Confidential Information, do not distribute",', NO_USER],
  [
    'swapped fields',
    'b@x,Bob',
    'its email has no @, but `name` has: choose with --email-column, or correct it',
  ],
  ['a name in its email', 'Bob,Bob <b@x>', MORE],
  ['an email that links', 'Bob,mailto:b@x', MORE],
  ['an email that is a formula', '="Bob",="b@x"', MORE],
  ['an email in apostrophes', "'Bob','b@x'", MORE],
  ['an invisible character in its email', 'Bob,\u200Bb@x', MORE],
  ['text after a quote', '"Bob" B,b@x', BROKEN],
  ['text after a quote that follows a space', ' "Bob" B,b@x', BROKEN],
  ['a quote that is not closed', '"Bob,b@x', BROKEN],
])('a line with %s is refused, and no other', async (_, line, reason) => {
  const file = `name,email\nAda,a@x\n${line}\n"Zoë, Z",z@x\nDan,d@x\n`
  const others = ['4 Zoë, Z <z@x>', '5 Dan <d@x>']
  expect(shown(await readAnyhow(readCsv, file))).toEqual(['2 Ada <a@x>', `3: ${reason}`, ...others])
})

test.each(['\n', '\r\n', '\r'])('an open quote costs one line that ends with %j', async (end) => {
  const lines = ['name,email', '"Ada,a@x', 'Bob,b@x', '"Cy",c@x', '"', '"D', 'D",d@x', '']
  const [good, last] = [['3 Bob <b@x>', '4 Cy <c@x>'], `6 D${end}D <d@x>`]
  const expected = [`2: ${BROKEN}`, ...good, `5: ${BROKEN}`, last]
  expect(shown(await readAnyhow(readCsv, lines.join(end)))).toEqual(expected)
})

const ACCENTS = `a${'\u0301'.repeat(200_000)}${'\u0323'.repeat(200_000)}`

test('broken quotes, and long titles of brackets or accents, are read in linear time', async () => {
  const began = process.cpuUsage().user
  for (const line of ['x","\n', '"\n', '\n"']) {
    await read(readCsv, `name,email\n"${line.repeat(500_000 / line.length)}`, 65_536)
  }
  for (const title of ['('.repeat(400_000), ACCENTS]) {
    expect(shown(await read(readCsv, `name,email,${title}\nAda,a@x,\n`))).toEqual(['2 Ada <a@x>'])
  }
  expect(process.cpuUsage().user - began).toBeLessThan(4_000_000) // microseconds
})

const ENDS = ['\n', '\r\n', '\r', '\n"']
test.each(ENDS)('a line after %j that is too long is refused', async (before) => {
  const end = before.replace('"', '')
  const file = Buffer.from(`name,email${before}${'x,'.repeat(5_000_000)}${end}A,a@x${end}`)
  for (const size of [65_536, file.length - 5]) {
    expect(shown(await read(readCsv, file, size))).toEqual([`2: ${LONG}`, '3 A <a@x>'])
  }
})

test.each([
  'Name;Vorname;E-Mail-Adresse\nLovelace;Ada;a@x\n',
  'Name;Vorname;Nachname;E-Mail\nLady L;Ada;Lovelace;a@x\n',
  'Nom;Prénom;Courriel\nLovelace;Ada;a@x\n',
  'NOM DE FAMILLE,PRE\u0301NOM,ADRESSE E-MAIL\nLovelace,Ada,a@x\n',
  'nom,prenom,nom complet,e-mail\nL,A,Ada Lovelace,a@x\n',
  'Nom;Adresse électronique\nAda Lovelace;a@x\n',
  "Nom d'usage;Prénom;Adresse mail\nLovelace;Ada;a@x\n",
  'Apellidos;Nombre;Correo electrónico\nLovelace;Ada;a@x\n',
  'Segundo apellido,Primer apellido,Nombre,Correo\n,Lovelace,Ada,a@x\n',
  'Name;Surname;Email\nAda;Lovelace;a@x\n',
  'Last name,Name,Email\nLovelace,Ada,a@x\n',
  'First,Last,Email*\nAda,Lovelace,a@x\n',
  'Name,First name,Last name,Email\nAda Lovelace,A,L,a@x\n',
  'Name,Email,Name (parent),Email (parent)\nAda Lovelace,a@x,Bob,b@x\n',
  'Vorname;Nachname(n);E-Mail-Adresse 1;E-Mail-Adresse 2\nAda;Lovelace;a@x;b@x\n',
  'Vorname (Rufname);Geburtsname;E-Mail\nAda;Lovelace;a@x\n',
  'Prénom(s);Nom(s);Mél\nAda;Lovelace;a@x\n',
  'Nombres;Apellidos;Email\nAda;Lovelace;a@x\n',
  '名,姓,メールアドレス\nLovelace,Ada,a@x\n',
  '苗字,名前,メール\nAda,Lovelace,a@x\n',
  '名前,メール\nAda Lovelace,a@x\n',
  'Name;First name;E-mail\nLovelace;Ada;a@x\n',
  'givenName,sn,mail\nAda,Lovelace,a@x\n',
  'First Name [Required],Last Name [Required],Email Address [Required]\nAda,Lovelace,a@x\n',
  '[Name],"E-Mail"\nAda Lovelace,a@x\n',
  '\u200BName\u00A0,\u2068EMAIL\u2069\nAda Lovelace,a@x\n',
  'display_name,user_email\nAda Lovelace,a@x\n',
  '姓名,邮箱\nAda Lovelace,a@x\n',
  'name,given_name,family_name,email\n,Ada,Lovelace,a@x\n',
  'full_name,first_name,last_name,email\n" ",Ada,Lovelace,a@x\n',
  'displayName,firstName,lastName,email\nAda Lovelace,A,L,a@x\n',
  'フリガナ\tお名前\tﾒｰﾙｱﾄﾞﾚｽ\nx\tAda Lovelace\ta@x\n',
  'Fornavn;Etternavn;E-postadresse\nAda;Lovelace;a@x\n',
  'Nome;Apelido;Endereço de e-mail\nAda;Lovelace;a@x\n',
  'Nome;Último nome;E-mail\nAda;Lovelace;a@x\n',
  'Nom;Cognoms;Email\nAda;Lovelace;a@x\n',
  'Familienname;Rufname;E-Mail\nLovelace;Ada;a@x\n',
  '姓氏,名字,邮箱\nAda,Lovelace,a@x\n',
  '氏,名,メール\nAda,Lovelace,a@x\n',
  '姓,名,First Name,Last Name,Email\nAda,Lovelace,A,L,a@x\n',
  'Name,First Name,Email\nAda Lovelace,Ada,a@x\n',
  'Name,Full Name,Email\n,Ada Lovelace,a@x\n',
  'name,displayName,email\nal,Ada Lovelace,a@x\n',
  'Name;Vorname;Geburtsname;E-Mail\nLovelace;Ada;Byron;a@x\n',
  "Nom de naissance;Nom d'usage;Prénom;Email\nLovelace;;Ada;a@x\n",
  'S/N,Name,Email\n1,Ada Lovelace,a@x\n',
  'Name,Email 2,Email 1\nAda Lovelace,b@x,a@x\n',
  '"Title, Role";"Name";"E-Mail"\nx;Ada Lovelace;a@x\n',
])('titles are known: %j', async (file) => {
  expect(shown(await readAnyhow(readCsv, file))).toEqual(['2 Ada Lovelace <a@x>'])
})

test.each([
  'Nombre;Apellido paterno;Apellido materno;Correo',
  'Nombre;1er apellido;2º apellido;e-mail',
  'Nombre;Apellido 1;Apellido 2;Email',
])('both last names of a Spanish name are read: %s', async (titles) => {
  const lines = await read(readCsv, `${titles}\nAda;Byron;King;a@x\n`)
  expect(shown(lines)).toEqual(['2 Ada Byron King <a@x>'])
})

test.each([
  ['Nombre;Apellido 1;Apellido 2;Correo', 'Juan;García;García', 'Juan García García'],
  ['Nombre(s),Paterno,Materno,Correo', 'Juan,García,López', 'Juan García López'],
  ['First Name,Last Name,Email', 'Ali,Ali', 'Ali Ali'],
  ['Name,Surname,Email', '"Alm, Ada",Alm', 'Alm, Ada'],
  ['First,Middle,Last,Email', 'Ada,B.,Alm', 'Ada B. Alm'],
  ['First name,Second name,Last name,Email', 'Ada,Bea,Alm', 'Ada Bea Alm'],
  ['Roepnaam;Tussenvoegsel;Achternaam;Email', 'Ada;van der;Alm', 'Ada van der Alm'],
  ['Vorname;Vorsatzwort;Nachname;E-Mail', 'Ada;von der;Alm', 'Ada von der Alm'],
  ['givenName,initials,sn,mail', 'Ada,A,Alm', 'Ada Alm'],
  ["Nom,Nom d'usage,Prénom,Email", 'Alm,,Ada', 'Ada Alm'],
  ['Nom,Prénom usuel,Email', 'Alm,Ada', 'Ada Alm'],
  ['Name,Last Name,Initials,Email', 'Ada,Alm,A.', 'Ada Alm'],
  ['Name,Initials,Email', 'Ada Alm,AA', 'Ada Alm'],
  ['Name,Preferred First Name,Email', 'Adaline Alm,Ada', 'Adaline Alm'],
  ['Name,First Name,Email', 'ADA ALM,Ada', 'ADA ALM'],
  ['Nombre (obligatorio),Apellidos (obligatorio),Email', 'Ada,Alm', 'Ada Alm'],
])('each part of a name is read once: %s, %s', async (titles, values, name) => {
  const separator = titles.includes(';') ? ';' : ','
  const lines = await read(readCsv, `${titles}\n${values}${separator}a@x\n`)
  expect(shown(lines)).toEqual([`2 ${name} <a@x>`])
})

const A_PART =
  'only a part of the name is recognized: give the title of each part with --name-column'
const CODES = 'its name has codes in place of characters: correct it, or export the file as UTF-8'

test.each([
  ['Imię;Nachname;Email\nAda;Alm;a@x\n', `2: ${A_PART}`],
  ['First name,Email,City\nAda,a@x,Oslo\n', `2: ${A_PART}`],
  ['First name,Email,Phone\nAda,a@x,555\n', '2 Ada <a@x>'],
  ['Name,,Email\nAda,Alm,a@x\n', '2: column 2 has a text, but no title: give it one'],
  ['Name,Email,\nAda,a@x,x\n', '2 Ada <a@x>'],
  ['name,email\n,a@x,\n', '2  <a@x>'],
  ['email,firm,name,note\na@x,F,,\nb@x,B, Inc.,Bob,\n', '3: it has 5 fields, but the first'],
  ['name,email\nConan O&#039;Brien,a@x\n', `2: ${CODES}`],
  ['name,email\n=?UTF-8?Q?Bj=C3=B6rn?=,a@x\n', `2: ${CODES}`],
  ['name,email\nBjÃ¶rn,a@x\n', `2: ${CODES}`],
  ['name,email\nMax GroÃŸ,a@x\n', `2: ${CODES}`],
  ['name,email\nWaÅ‚Ä™sa,a@x\n', `2: ${CODES}`],
  ['name,email\nIrmã «R&D; +49/123-4» JOÃO,a@x\n', '2 Irmã «R&D; +49/123-4» JOÃO <a@x>'],
  ['name,email\nExportabteilung,\n', '2 Exportabteilung <>'],
  ['name,email\nBj+APY-rn,a@x\n', `2: ${CODES}`],
  ['name;email\n=HYPERLINK("x","Ada");a@x\n', `2: ${CODES}`],
  ['name,email\n<a href="/1">Ada</a>,a@x\n', `2: ${CODES}`],
  ['name,email\nCount: 1,\n', `2: ${NO_USER}`],
  ['name,email\nstring,string\n', `2: ${NO_USER}`],
  ['name,email\nAda,"a@x "\n', `2: ${MORE}`],
])('what would be stored as something else is refused: %j', async (file, line) => {
  const lines = shown(await readAnyhow(readCsv, file))
  expect(lines.at(-1)).toContain(line)
})

test('the columns that are used are reported, and those that are not', async () => {
  const reported: string[] = []
  const file = 'id;Imię;Nazwisko;"E-\nMail";Vorname;\n'
  await read((text) => readCsv(text, {}, (summary) => reported.push(summary)), file)
  const summary = 'id: id; name: Vorname; email: E- Mail; not used: Imię, Nazwisko, column 6'
  expect(reported).toEqual([summary])
})

test.each<[string, Columns, string, string]>([
  ['called anything', { name: 'Naam', email: 'Postbus' }, 'Postbus;Naam\na@x;Ada\n', 'Ada <a@x>'],
  ['a part of a name', { name: 'FIRST-name' }, 'Last name,first name,email\nL,Ada,x\n', 'Ada <x>'],
  ['absent', { name: '' }, ',email\nAda,a@x\n', ' <a@x>'],
  ['one of two with the same title', { email: 'email (2)' }, 'name,email,email\nA,,x\n', 'A <x>'],
  ['one of two', { name: 'Name (b)' }, 'Name (a),Name (b),Email\nA,B,x\n', 'B <x>'],
])('a column may be %s if an option says so', async (_, columns, file, user) => {
  const lines = await read((text) => readCsv(text, columns), file)
  expect(shown(lines)).toEqual([`2 ${user}`])
})

test('the first of two columns with the same title is read; a line without it is refused', async () => {
  const lines = await read(readCsv, 'Name,Email,Email\nAda,a@x,b@x\nBob,,b@x\n')
  const reason =
    'its email has no @, but `Email (2)` has: choose with --email-column, or correct it'
  expect(shown(lines)).toEqual(['2 Ada <a@x>', `3: ${reason}`])
})

test('a line has at most 16,384 fields', async () => {
  const file = `name,email\n${'x,'.repeat(4_000_000)}\nAda,a@x\n`
  expect(shown(await read(readCsv, file))).toEqual([
    '2: it has more than 16,384 fields',
    '3 Ada <a@x>',
  ])
  const titles = `name,email${',x'.repeat(4_000_000)}\nAda,a@x\n`
  await expect(read(readCsv, titles)).rejects.toThrow(
    'the titles cannot be read: it has more than 16,384 fields',
  )
})

const OR_NONE = "give its title with --name-column, or '' if there is none; the titles are: "

test.each<[string, string, Columns?]>([
  ['', 'the file is empty'],
  ['"name,email\nAda,1\n', 'the titles cannot be read: its quotes are broken'],
  [
    "'name','email'\n'Ada','a@x'\n",
    'the titles are in apostrophes: write double quotes (") instead',
  ],
  ['#TYPE x\nname,email\n', 'delete the lines above the titles'],
  ['Naam,Email\n', `no column is recognized as the name: ${OR_NONE}Naam, Email`],
  ['Name,Email,Name\n', 'Name, Name (2) are alike: choose with --name-column'],
  ['Name,Name 2,Email\n', 'Name, Name 2 are alike: choose with --name-column'],
  ['name,phone\n', 'no column is recognized as the email: give its title with --email-column'],
  ['Naam,Email\n', 'no column is titled `X`; the titles are: Naam, Email', { name: ['Naam', 'X'] }],
  [
    'Ada,a@x\nBob,b@x\n',
    'no column is recognized: delete the lines above the titles, if there are any; if the file has no titles, add a line such as `name,email`; or give the titles with --name-column and --email-column; the titles are: Ada, a@x',
  ],
])('the import of %j fails: %s', async (file, message, ...[columns]) => {
  await expect(read((text) => readCsv(text, columns), file)).rejects.toThrow(message)
})
