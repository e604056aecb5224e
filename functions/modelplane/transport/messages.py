"""The pipeline's protobuf messages, in which every Kubernetes object and the context stay serialized.

They are the function SDK's messages with one difference: where those have a `google.protobuf.Struct`, these have
`bytes`, which is the same on the wire. So a message of a thousand objects is read and written without building a
hundred thousand protobuf values: an object is parsed only when a step reads it, and resources of earlier steps are
passed on unparsed.
"""

from typing import Any, Final

from crossplane.function.proto.v1 import run_function_pb2 as sdk
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.duration_pb2 import DESCRIPTOR as DURATION
from google.protobuf.message_factory import GetMessageClass

_STRUCT: Final = ".google.protobuf.Struct"
_PACKAGE: Final = "modelplane.transport"


def _leave_structs_as_bytes(message: DescriptorProto) -> None:
    for field in message.field:
        if field.type_name == _STRUCT:
            field.ClearField("type_name")
            field.type = FieldDescriptorProto.TYPE_BYTES


def _pool() -> DescriptorPool:
    """Return a pool with the SDK's messages, their Structs as bytes, and the two messages below."""
    pool = DescriptorPool()
    file = FileDescriptorProto()
    DURATION.CopyToProto(file)
    pool.Add(file)
    file = FileDescriptorProto()
    sdk.DESCRIPTOR.CopyToProto(file)
    del file.service[:]
    file.dependency[:] = [DURATION.name]
    for message in file.message_type:
        _leave_structs_as_bytes(message)
    pool.Add(file)
    pool.Add(_peeks())
    return pool


def _peeks() -> FileDescriptorProto:
    """Return Struct and Value one level deep: a Struct's values are bytes, a Value is a text or a Struct."""
    file = FileDescriptorProto(name="peek.proto", package=_PACKAGE, syntax="proto3")
    fields = file.message_type.add(name="Fields")
    of_entries = {"type": "TYPE_MESSAGE", "label": "LABEL_REPEATED", "type_name": "Fields.FieldsEntry"}
    fields.field.add(name="fields", number=1, **of_entries)
    entry = fields.nested_type.add(name="FieldsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type="TYPE_STRING", label="LABEL_OPTIONAL")
    entry.field.add(name="value", number=2, type="TYPE_BYTES", label="LABEL_OPTIONAL")
    peek = file.message_type.add(name="Peek")
    peek.field.add(name="text", number=3, type="TYPE_STRING", label="LABEL_OPTIONAL")
    peek.field.add(name="struct", number=5, type="TYPE_MESSAGE", label="LABEL_OPTIONAL", type_name="Fields")
    return file


_POOL: Final = _pool()


def _message(full_name: str) -> Any:
    return GetMessageClass(_POOL.FindMessageTypeByName(full_name))


Request: Final = _message(sdk.RunFunctionRequest.DESCRIPTOR.full_name)
Response: Final = _message(sdk.RunFunctionResponse.DESCRIPTOR.full_name)
#: A Struct whose values are bytes.
Fields: Final = _message(f"{_PACKAGE}.Fields")
#: A Value that is a text or a Struct; anything else reads as an empty text.
Peek: Final = _message(f"{_PACKAGE}.Peek")
